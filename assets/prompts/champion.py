"""Who is champion, and what the champion is worth on problems that nothing was trained or chosen on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

import assets.prompts.judge  # noqa: F401  # pyright: ignore[reportUnusedImport]  (what is read is defined first)
from assets.prompts.line import archive, called, line, policy_at, problems_of, shown, unverified
from assets.store import LineStore
from evolake.lake import AGENT_CALLS
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.tables import DECISIONS, EVALUATIONS

if TYPE_CHECKING:
    from evolake.prompts.evolution.population import Population


ALWAYS_ONE = "a root is champion from the seeds on"


def trained(
    store: LineStore, iterations: pl.DataFrame, accepted: pl.DataFrame
) -> tuple[Population, str | None]:
    """Return (the population after the iterations, without what was blocked; the blob of the policy)."""
    from evolake.prompts.evolution.iteration_entry import read_entry

    last = iterations.sort("number").to_dicts()[-1]
    population = read_entry(store.blobs.get(last["entry_sha"])).population
    return population.blocked(accepted.filter(~pl.col("passed"))["prompt_id"].to_list()), last[
        "checkpoint_sha"
    ]


@line.asset(schema=EVALUATIONS, kinds={"torch"})
def duel_replies(
    store: LineStore, problems: pl.DataFrame, iterations: pl.DataFrame, accepted: pl.DataFrame
) -> pl.DataFrame:
    """Run the champion and the best-rated other prompt side by side on the same problems of the training
    split, under the same weights."""
    from evolake.prompts.evolution.training_cycle import calls_of
    from evolake.prompts.rating.evaluating import replies
    from evolake.seeds import child_seed, generator

    cycle, settings, (population, checkpoint) = (
        store.cycle,
        store.settings,
        trained(store, iterations, accepted),
    )
    own = settings.of(PromptsSettings)
    rows: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    challenger = population.best_id()
    if challenger != population.champion_id:
        train = problems_of(problems, "train")
        order: list[int] = (
            generator(settings.seed, line.name, cycle, "duel", 0)
            .permutation(len(train))[: own.duel_problems]
            .tolist()
        )
        with policy_at(store, checkpoint) as policy:
            result = replies(
                policy,
                [population.prompt(name) for name in (population.champion_id, challenger) if name],
                [train[place] for place in order],
                samples=own.duel_samples,
                answer_format=own.answer_format,
                seed=child_seed(settings.seed, line.name, cycle, "duel", 1),
            )
            calls = calls_of(policy)
        rows = [row | {"cycle": cycle, "arm": own.arm, "iteration": population.iteration} for row in result]
    store.side(AGENT_CALLS, calls)
    frame = EVALUATIONS.frame(rows)
    details = {"challenger": challenger if rows else "none: the champion is rated best", "replies": len(rows)}
    store.tell(details | unverified(frame) | called(frame))
    return frame


@line.asset(schema=DECISIONS)
def champion(
    store: LineStore, iterations: pl.DataFrame, accepted: pl.DataFrame, duel_replies: pl.DataFrame
) -> pl.DataFrame:
    """Decide the duel: a new champion if the difference's interval is above zero. No row if no prompt is
    rated above the champion."""
    from evolake.prompts.evolution.champion import decide_champion
    from evolake.seeds import generator

    champion_id = archive(store).champion_id
    assert champion_id is not None, ALWAYS_ONE
    correct: dict[tuple[str, str], list[bool]] = {}
    for row in duel_replies.to_dicts():
        correct.setdefault((row["prompt_id"], row["problem_id"]), []).append(row["correct"])
    rows = [
        decide_champion(
            champion_id,
            other,
            correct,
            generator(store.settings.seed, line.name, store.cycle, "duel", 2),
            cycle=store.cycle,
        )
        for other in sorted(set(duel_replies["prompt_id"]) - {champion_id})
    ]
    winner_id = next((row["challenger_id"] for row in rows if row["wins"]), champion_id)
    details = {f"against_{row['challenger_id'][:12]}": row["reason"] for row in rows}
    store.tell({"champion": winner_id, "changed": winner_id != champion_id} | details)
    return DECISIONS.frame(rows)


@line.asset(schema=EVALUATIONS, kinds={"torch"})
def heldout(
    store: LineStore,
    problems: pl.DataFrame,
    iterations: pl.DataFrame,
    accepted: pl.DataFrame,
    champion: pl.DataFrame,
) -> pl.DataFrame:
    """Held-out problems under the champion, the best-rated prompt and the first root, with the weights as
    they are now; for the first cycle also with the base model. For people only: nothing is trained, rated or
    chosen by these rows."""
    from evolake.prompts.evolution.training_cycle import calls_of
    from evolake.prompts.rating.evaluating import decoding_of, evaluate, scores
    from evolake.seeds import child_seed

    cycle, settings, (population, checkpoint) = (
        store.cycle,
        store.settings,
        trained(store, iterations, accepted),
    )
    own, held = settings.of(PromptsSettings), problems_of(problems, "heldout")
    root = population.rows()[0]["prompt_id"]
    wanted = dict.fromkeys([root, current_champion(store, population), population.best_id()])
    seed = child_seed(settings.seed, line.name, cycle, "heldout", 0)
    rows: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    for iteration, prompts, weights in _evaluations(
        archive(store), population, root, list(wanted), checkpoint
    ):
        with policy_at(store, weights) as policy:
            result = evaluate(
                policy,
                [population.prompt(name) for name in prompts],
                held,
                samples=own.heldout_samples,
                answer_format=own.answer_format,
                seed=seed,
                decoding=decoding_of(own),
            )
            calls += calls_of(policy)
        rows += [row | {"cycle": cycle, "arm": own.arm, "iteration": iteration} for row in result]
    store.side(AGENT_CALLS, calls)
    now = scores([row for row in rows if row["iteration"] == population.iteration])
    frame = EVALUATIONS.frame(rows)
    details = {"problems": len(held)} | {
        f"correct_{name[:12]}": shown(item.correct) for name, item in now.items()
    }
    store.tell(details | unverified(frame) | called(frame))
    return frame


def current_champion(store: LineStore, population: Population) -> str:
    """Return the champion after the cycle's duel."""
    won = store.read("champion").filter(pl.col("wins"))["challenger_id"].to_list()
    champion_id = won[0] if won else population.champion_id
    assert champion_id is not None, ALWAYS_ONE
    return champion_id


def _evaluations(
    before: Population, after: Population, root: str, prompts: list[str], checkpoint: str | None
) -> list[tuple[int, list[str], str | None]]:
    """Return (iteration, prompts, blob of the weights): the first cycle begins with the base model under the
    root, where its curve starts."""
    start = [(0, [root], None)] if before.iteration == 0 else []
    return [*start, (after.iteration, prompts, checkpoint)]
