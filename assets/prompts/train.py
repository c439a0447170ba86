"""The opening of a cycle and its iterations: problems are fixed, then prompts are drawn, sampled, rated and
edited while the policy learns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.added_seeds import Admit, Arrival, Seedling, admit_seeds
from assets.line import SAID_OF_CYCLE
from assets.prompts.line import CHECKPOINT, archive, line, policy_at, problems_of, shown
from assets.proposals import roles_of
from assets.store import LineStore
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.tables import FEED, FEED_READ, JOURNAL, PROBLEMS
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.prompts.evolution.feeding import Reading
    from evolake.prompts.evolution.population import Population


@line.asset(deps=[line.incoming], schema=PROBLEMS)
def problems(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Draw the problems of the cycle, to train on and held out, disjoint by family and by text, instances of
    accepted families among those to train on. Opens the cycle, and takes in new root prompts."""
    from evolake.lake.added_seeds import seeds_of
    from evolake.prompts.evolution.feeding import fed
    from evolake.prompts.evolution.population import SEEDS, population_of
    from evolake.prompts.model.problems import problem_set

    store = LineStore(line, context, lake)
    settings, opened, sealed = store.settings, store.open_cycle(), population_of(store.population())
    own, read = settings.of(PromptsSettings), read_of_families(store, sealed)
    result = problem_set(own, lake=store.lake, seeds=settings.seeds, seed=settings.seed, cycles=read.families)
    feed = fed(
        result,
        own,
        read.learnt(store.lake),
        lake=store.lake,
        seeds=settings.seeds,
        cycles=read.families,
        cycle=store.cycle,
        root_seed=settings.seed,
    )
    store.extra(FEED, feed.rows)
    result = feed.problems
    frame = PROBLEMS.frame(
        {name: getattr(item, name) for name in PROBLEMS.columns if name != "cycle"} | {"cycle": store.cycle}
        for item in result.all
    )
    admit_seeds(store, sealed, lambda: seeds_of(SEEDS, settings), "prompts", admitting(store, sealed, frame))
    store.tell(
        opened.metadata()
        | {
            "train": len(result.train),
            "heldout": len(result.heldout),
            "source": result.source,
            "passed_over": "; ".join(result.passed_over) or "none",
            "contamination": result.contamination,
            "of_families": len(feed.rows),
        }
        | ({SAID_OF_CYCLE: summary} if (summary := feed.describe()) else {})
    )
    return frame


def read_of_families(store: LineStore, sealed: Population) -> Reading:
    """Return what this cycle reads of families, now or as an earlier run of it noted. Publishes it."""
    from evolake.prompts.evolution.feeding import Reading, reading, wanted

    read = Reading([])
    if wanted(store.settings.of(PromptsSettings)):
        noted = store.rows(FEED_READ.name) if store.has(FEED_READ.name) else []
        read = reading(store.lake, store.cycle, noted)
    if read.renewed:
        store.warn(
            "what this cycle read of families before is not there any more, or not with that content: it "
            "reads what is finished now"
        )
    store.extra(FEED_READ, read.rows)
    return read


def admitting(store: LineStore, population: Population, problems: pl.DataFrame) -> Admit:
    """Return what becomes of a root prompt that immigrates: as of a child, but for the lineage that it does
    not have."""
    from evolake.prompts.evolution.population import BLOCKED
    from evolake.prompts.gates import Newborn, run_gates
    from evolake.prompts.model.prompt import from_json

    ruleset, present = store.rules(), {row["prompt_id"]: row for row in population.living()}
    known = population

    def admit(seed: Seedling) -> Arrival:
        nonlocal known
        assert seed.blob_sha is not None, "a text can always be kept"
        prompt = from_json(store.text(seed.blob_sha))
        if prompt.prompt_id in present:
            return Arrival(present[prompt.prompt_id], present=True)
        row = known.root(prompt, seed.name, store.cycle)
        judged = run_gates(
            Newborn(row, known, [], problems.to_dicts()), ruleset, cycle=store.cycle, run_id=store.run_id
        )
        objection = judged.blocked_by
        known = known.updated(prompts=[row if judged.accepted else row | {"state": BLOCKED}])
        arrived = known.row(prompt.prompt_id)
        return Arrival(arrived, judged.verdicts, reason=objection.reason if objection else "")

    return admit


@line.asset(deps=[line.incoming], schema=JOURNAL, kinds={"torch"})
def iterations(context: dg.AssetExecutionContext, lake: LakeResource, problems: pl.DataFrame) -> pl.DataFrame:
    """Run the iterations of the cycle, each recorded as soon as it is done: a killed run continues after the
    last one noted, to the same weights."""
    from evolake.agents.calls import count_outcomes
    from evolake.prompts.edit_memory import memory_of
    from evolake.prompts.evolution.training_cycle import Notes, facts_of, read_entry, train
    from evolake.prompts.policies.registry import open_editors

    store = LineStore(line, context, lake)
    cycle, settings, own = store.cycle, store.settings, store.settings.of(PromptsSettings)
    population, guidance = archive(store), store.guidance()

    def note(rows: list[dict[str, Any]]) -> None:
        store.extra(JOURNAL, rows, "notes")
        store.progress("iteration done:", len(rows), own.iterations_per_cycle)

    noted = store.rows("notes") if store.has("notes") else []
    memory = memory_of(store.lake, cycle)
    facts = facts_of(settings, population, problems, guidance=guidance, cycle=cycle, memory=memory)
    with (
        policy_at(store, None) as policy,
        open_editors(settings, store.lake.root, cycle, store.run_id, policy) as agents,
    ):
        rows = train(
            population,
            policy,
            problems_of(problems, "train"),
            Notes(noted, note, facts, store.blobs, memory),
            agents=agents,
            settings=settings,
            guidance=guidance,
            checkpoint=population.value(CHECKPOINT),
        )
    calls = [call for row in rows for call in json.loads(store.blobs.get(row["calls_sha"]))]
    if count_outcomes(calls, roles_of(line, store.asset)).failed:
        store.extra(JOURNAL, (), "notes")  # so that the next run asks anew
    store.called(calls)
    updates = [
        update for row in rows for update in read_entry(store.blobs.get(row["entry_sha"])).rows["updates"]
    ]
    rollouts = sum(row["rollouts"] for row in updates)
    store.tell(
        {
            "iterations": len(rows),
            "rollouts": rollouts,
            "tokens": sum(row["tokens"] for row in updates),
            "correct": shown(sum(row["correct"] for row in updates) / rollouts),
            "formatted": shown(sum(row["formatted"] for row in updates) / rollouts),
            "mean_reward": json.dumps([row["mean_reward"] for row in updates]),
            "checkpoint": rows[-1]["checkpoint_sha"] or "none: the base model",
            "arm": own.arm,
            "policy": updates[-1]["policy"],
            "recipe": own.recipe,
            "guidance": len(guidance),
            "backend": settings.backend,
            "editor": own.editor,
        }
    )
    return JOURNAL.frame(rows)
