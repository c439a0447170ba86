"""Close a cycle of prompts: who is champion, what the champion is worth on problems that nothing was trained
or chosen on, who lives on, and the population that enters the next one, with the policy as it is now; and the
blocking checks through which everything must pass on its way from problems to survivors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.checks import suite_check
from assets.cycle import following
from assets.predicates import TOLERANCE, once, passed_every_gate, raised_check, rows_check, weights_sum_to_one
from assets.prompts.line import (
    CHAMPION_SINCE,
    CHECKPOINT,
    archive,
    called,
    line,
    policy_at,
    problems_of,
    shown,
    unverified,
)
from assets.prompts.results import accepted, children, edits, learnability, ratings, rollouts, updates, values
from assets.prompts.train import iterations, problems
from assets.proposals import proposal_checks
from assets.shown import figures_of
from assets.store import LineStore
from evolake.lake import AGENT_CALLS, Lake
from evolake.prompts.gate_specs import GATES as PROMPT_GATES
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.tables import DECISIONS, EVALUATIONS, PROMPTS
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.prompts.evolution.population import Population
    from evolake.seeds import CycleSeeds


ALWAYS_ONE = "a root is champion from the seeds on"


def trained(
    store: LineStore, iterations: pl.DataFrame, accepted: pl.DataFrame
) -> tuple[Population, str | None]:
    """Return (the population after the iterations, without what was blocked; the blob of the policy)."""
    from evolake.prompts.evolution.training_cycle import read_entry

    last = iterations.sort("number").to_dicts()[-1]
    population = read_entry(store.blobs.get(last["entry_sha"])).population
    return population.blocked(accepted.filter(~pl.col("passed"))["prompt_id"].to_list()), last[
        "checkpoint_sha"
    ]


def contest_of(store: LineStore, population: Population) -> CycleSeeds:
    """Return the seeds of this cycle's contest, by all prompts that there are after its iterations."""
    return store.contest(row["prompt_id"] for row in population.rows())


@line.asset(schema=EVALUATIONS, kinds={"torch"})
def duel_replies(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    problems: pl.DataFrame,
    iterations: pl.DataFrame,
    accepted: pl.DataFrame,
) -> pl.DataFrame:
    """Run the champion and the prompt that selection names as the best side by side on the same problems of
    the training split, under the same weights."""
    from evolake.prompts.evolution.prompt_contest import replies
    from evolake.prompts.evolution.training_cycle import calls_of

    store = LineStore(line, context, lake)
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
        contest = contest_of(store, population)
        order: list[int] = contest.generator("duel", 0).permutation(len(train))[: own.duel_problems].tolist()
        with policy_at(store, checkpoint) as policy:
            result = replies(
                policy,
                [population.prompt(name) for name in (population.champion_id, challenger) if name],
                [train[place] for place in order],
                samples=own.duel_samples,
                answer_format=own.answer_format,
                seed=contest.seed("duel", 1),
            )
            calls = calls_of(policy)
        rows = [row | {"cycle": cycle, "arm": own.arm, "iteration": population.iteration} for row in result]
    store.side(AGENT_CALLS, calls)
    frame = EVALUATIONS.frame(rows)
    details = {"challenger": challenger if rows else "none: the champion is rated best", "replies": len(rows)}
    store.tell(details | unverified(frame) | called(frame))
    return frame


@line.asset(deps=[line.incoming], schema=DECISIONS)
def champion(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    problems: pl.DataFrame,
    iterations: pl.DataFrame,
    accepted: pl.DataFrame,
    duel_replies: pl.DataFrame,
) -> pl.DataFrame:
    """Decide the duel: a new champion if the difference's interval is above zero. No row if no prompt is
    rated above the champion."""
    from evolake.prompts.evolution.prompt_contest import decide_champion

    store = LineStore(line, context, lake)
    champion_id = archive(store).champion_id
    contest = contest_of(store, trained(store, iterations, accepted)[0])
    assert champion_id is not None, ALWAYS_ONE
    families = dict(problems.select("problem_id", "family").iter_rows())
    correct: dict[tuple[str, str], list[bool]] = {}
    for row in duel_replies.to_dicts():
        correct.setdefault((row["prompt_id"], row["problem_id"]), []).append(row["correct"])
    rows = [
        decide_champion(
            champion_id, other, correct, contest.generator("duel", 2), cycle=store.cycle, families=families
        )
        for other in sorted(set(duel_replies["prompt_id"]) - {champion_id})
    ]
    winner_id = next((row["challenger_id"] for row in rows if row["wins"]), champion_id)
    details = {f"against_{row['challenger_id'][:12]}": row["reason"] for row in rows}
    store.reveal(contest)
    store.tell({"champion": winner_id, "changed": winner_id != champion_id} | details)
    return DECISIONS.frame(rows)


@line.asset(deps=[line.incoming], schema=EVALUATIONS, kinds={"torch"})
def heldout(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    problems: pl.DataFrame,
    iterations: pl.DataFrame,
    accepted: pl.DataFrame,
    champion: pl.DataFrame,
) -> pl.DataFrame:
    """Held-out problems under the champion, the best-rated prompt and the first root, with the weights as
    they are now; for the first cycle also with the base model. For people only: nothing is trained, rated or
    chosen by these rows."""
    from evolake.prompts.evolution.prompt_contest import decoding_of, evaluate, scores
    from evolake.prompts.evolution.training_cycle import calls_of
    from evolake.seeds import child_seed

    store = LineStore(line, context, lake)
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


GATES = len(PROMPT_GATES)


def _of_split(
    asset: dg.AssetsDefinition, name: str, description: str, split: str, reply: str
) -> dg.AssetChecksDefinition:
    """`reply` counts the replies to one problem."""
    return rows_check(
        asset,
        name,
        description,
        once("iteration", "prompt_id", "problem_id", reply),
        f"split = '{split}'",
        rows=f"""
SELECT r.iteration, r.prompt_id, r.problem_id, r.{reply}, p.split FROM {line.name}.{asset.key.path[-1]} AS r
LEFT JOIN {line.name}.problems AS p ON p.problem_id = r.problem_id AND p.cycle = r.cycle
  WHERE r.cycle = $cycle""",
    )


def _rematched(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    """Ratings next to those of every match again, from the ratings that entered the cycle."""
    from evolake.prompts.ratings import update

    before = {
        row["prompt_id"]: (row["mu"], row["sigma"])
        for row in lake.read(line.name, "incoming_prompts", cycle).to_dicts()
    }
    rows: list[dict[str, Any]] = []
    for (_,), part in sorted(frame.group_by("iteration"), key=lambda item: item[0]):
        for row in part.filter(pl.col("source") == "birth").to_dicts():
            before[row["prompt_id"]] = (row["mu"], row["sigma"])
        played = part.filter(pl.col("source") == "update").sort("place").to_dicts()
        after = update([before[row["prompt_id"]] for row in played], [row["rank"] for row in played])
        for row, (mu, sigma) in zip(played, after, strict=True):
            rows.append(row | {"off": max(abs(row["mu"] - mu), abs(row["sigma"] - sigma))})
            before[row["prompt_id"]] = (row["mu"], row["sigma"])
    return pl.DataFrame(rows, schema={**frame.schema, "off": pl.Float64})


def _checkpoints(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    """Return updates, each with whether their checkpoint is in the lake, whole."""
    there = [sha is None or lake.blobs.has(sha) for sha in frame["checkpoint_sha"]]
    return frame.with_columns(lost=pl.Series([int(not item) for item in there], dtype=pl.Int64))


problems_are_apart = rows_check(
    problems,
    "heldout_problems_are_apart",
    "Each problem once by id and by text: nothing that is held out can be trained on.",
)
rollouts_are_of_training = _of_split(
    rollouts,
    "rollouts_are_of_training_problems",
    "One row per reply; nothing that is held out was trained, rated or edited on.",
    "train",
    "number",
)
duels_are_of_training = _of_split(
    duel_replies,
    "duels_are_of_training_problems",
    "One row per reply; nothing that is held out chose a champion.",
    "train",
    "sample",
)
heldout_is_held_out = _of_split(
    heldout,
    "evaluations_are_of_heldout_problems",
    "One row per reply; what is reported was never trained on.",
    "heldout",
    "sample",
)
values_are_means = rows_check(
    values,
    "values_are_means_of_rollouts",
    "Every value is the mean reward of its rollouts, counted again; a rejected reply is worth nothing.",
    f"value IS NULL OR abs(value - mean) <= {TOLERANCE}",
    rows=f"""
SELECT v.iteration, v.prompt_id, v.problem_id, v.value, avg(coalesce(r.reward, 0))
  FILTER (r.cycle IS NOT NULL) AS mean FROM {line.name}.values AS v
LEFT JOIN {line.name}.rollouts AS r USING (cycle, iteration, prompt_id, problem_id) WHERE v.cycle = $cycle
  GROUP BY ALL""",
)
ratings_follow_from_ranks = suite_check(
    ratings,
    "ratings_follow_from_ranks",
    "Every match rated again from the ratings that entered the cycle gives the same ratings.",
    line.cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeBetween(column="off", min_value=0, max_value=TOLERANCE),
        gxe.ExpectColumnValuesToBeBetween(column="sigma", min_value=0),
    ],
    f"SELECT iteration, prompt_id, rank, mean_reward, mu, sigma FROM {line.name}.ratings WHERE cycle = "
    "$cycle AND source = 'update' ORDER BY ALL",
    prepare=_rematched,
)
updates_have_checkpoints = suite_check(
    updates,
    "updates_have_checkpoints",
    "One row per iteration; whatever learnt has a checkpoint that is in the lake.",
    line.cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeUnique(column="iteration"),
        gxe.ExpectColumnValuesToBeBetween(column="lost", min_value=0, max_value=0),
    ],
    f"SELECT iteration, policy, checkpoint_sha FROM {line.name}.updates WHERE cycle = $cycle ORDER BY "
    "iteration",
    prepare=_checkpoints,
)
learnability_is_of_rollouts = rows_check(
    learnability,
    "learnability_counts_rollouts_of_training",
    "One row per family and difficulty; its replies are those to problems to train on, counted again, and "
    "nothing is learned if no group is mixed.",
    once("arm", "policy", "source", "family", "difficulty"),
    "replies = counted",
    "correct = counted_correct",
    "informative <= groups",
    "score BETWEEN 0 AND 1",
    "(score > 0) = (variance > 0)",
    "pass_rate BETWEEN low AND high",
    rows=f"""
SELECT l.*, r.counted, r.counted_correct FROM (SELECT * FROM {line.name}.learnability
  WHERE cycle = $cycle) AS l FULL JOIN (
  SELECT r.arm, u.policy, p.source, p.family, p.difficulty, count(*) AS counted, count(*)
    FILTER (r.correct) AS counted_correct
  FROM {line.name}.rollouts AS r JOIN {line.name}.problems AS p ON p.problem_id = r.problem_id
    AND p.cycle = r.cycle AND p.split = 'train'
  JOIN {line.name}.updates AS u ON u.cycle = r.cycle AND u.iteration = r.iteration AND u.arm = r.arm
    WHERE r.cycle = $cycle GROUP BY ALL
) AS r USING (arm, policy, source, family, difficulty)""",
)
edits_say_why = rows_check(
    edits, "edits_say_why", "Every hunk that was not applied has a reason, and none that was has one."
)
children_are_new = weights_sum_to_one(
    children,
    "parent_weights_sum_to_one",
    "No child twice; every one has parents, whose shares in it sum to 1.",
    "prompt_id",
    orphans_allowed=False,
)
accepted_passed_every_gate = passed_every_gate(
    accepted,
    "accepted_passed_every_gate",
    "Every child that passed has a pass from each gate of this cycle and no objection.",
    "prompt_id",
    GATES,
    where="passed",
)
wins_are_beyond_noise = rows_check(
    champion,
    "wins_are_beyond_the_noise",
    "A challenger wins only if its gain's interval is above zero; one decision per challenger.",
)
judging_did_not_raise = raised_check(accepted, line.name, line.cycles, judged=["accepted"])
some_proposal_was_answered = proposal_checks(line, iterations)
GUARDS = (
    problems_are_apart,
    rollouts_are_of_training,
    values_are_means,
    ratings_follow_from_ranks,
    updates_have_checkpoints,
    learnability_is_of_rollouts,
    edits_say_why,
    children_are_new,
    accepted_passed_every_gate,
    duels_are_of_training,
    wins_are_beyond_noise,
    heldout_is_held_out,
)


@line.asset(
    deps=[line.incoming, "rollouts", "values", "ratings", "updates", "learnability", "edits", "children"],
    schema=PROMPTS,
)
def survivors(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    iterations: pl.DataFrame,
    accepted: pl.DataFrame,
    champion: pl.DataFrame,
    heldout: pl.DataFrame,
) -> pl.DataFrame:
    """Select the champion and the window: what may be drawn in the next cycle. Seals it, with the policy's
    checkpoint."""
    from evolake.prompts.evolution.iteration import window_of
    from evolake.prompts.evolution.prompt_contest import heldout_is_greedy
    from evolake.prompts.policies.adapter import REPLY, reply_settings
    from evolake.prompts.report.material import FIGURES, material_of

    store = LineStore(line, context, lake)
    cycle, (population, checkpoint) = store.cycle, trained(store, iterations, accepted)
    champion_id = current_champion(store, population)
    since = population.value(CHAMPION_SINCE) if champion_id == population.champion_id else cycle
    closed = population.with_champion(champion_id, window_of(store.settings.of(PromptsSettings)))
    own = store.settings.of(PromptsSettings)
    replied = reply_settings(own) | {"greedy": heldout_is_greedy(own)}
    closed = closed.with_values(**{CHECKPOINT: checkpoint, CHAMPION_SINCE: since, REPLY: replied})
    score = heldout.filter((pl.col("prompt_id") == champion_id) & (pl.col("iteration") == closed.iteration))[
        "correct"
    ].mean()
    store.champion(champion_id, score)  # pyright: ignore[reportArgumentType]  (a mean of booleans)
    # A child that passed its gates is an accepted artifact, though it took no part in an iteration yet
    # (`candidate` of the line's own table).
    passed = {"candidate": "accepted"}
    store.artifacts(
        row | {"cycle": cycle, "state": passed.get(row["state"], row["state"])}
        for row in closed.rows()
        if row["cycle"] == cycle or row["prompt_id"] == champion_id
    )
    sealed = store.seal(closed.frames(), GUARDS, survivors="prompts")
    live = closed.rows("champion", "accepted", "candidate")
    store.tell(
        sealed.metadata()
        | {
            "champion_id": champion_id,
            "champion_since": since,
            "live": len(live),
            "checkpoint": checkpoint or "none: the base model",
        }
        | figures_of(FIGURES, material_of(store.lake, following(cycle)), "survivors")
    )
    return PROMPTS.frame(live)
