"""What a cycle gives: labelled instances, measures of the programs, the funnel with its costs, and how hard
new families are for a solver model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.families.judge import of_record
from assets.families.line import archive, line, open_jail
from assets.store import LineStore
from evolake.families.settings import DRIFT_PAIRS, FamiliesSettings
from evolake.families.tables import (
    COMPLEXITY,
    DRIFT,
    DRIFT_SUMMARY,
    DROPPED,
    FAILED_PROPOSALS,
    FUNNEL,
    INSTANCES,
    RESOURCES,
)
from evolake.lake import AGENT_CALLS
from resources.compute import ComputeResource
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.families.model.contract import Family


def fresh(store: LineStore, accepted: pl.DataFrame) -> list[Family]:
    """Return families that no instance was sampled of yet: in the first cycle the seeds, always what was
    accepted now."""
    from evolake.families.dataset.datasets import load_families

    return load_families(store.lake, [*archive(store).without_instances(), *accepted.to_dicts()])


@line.asset(deps=[line.incoming], schema=INSTANCES, kinds={"python", "bubblewrap"})
def instances(
    context: dg.AssetExecutionContext, lake: LakeResource, compute: ComputeResource, accepted: pl.DataFrame
) -> pl.DataFrame:
    """Labelled instances of every family that is new: difficulties 1-3, 4-6, 7-10 at 1:3:5, each text once,
    nothing trivial."""
    from evolake.families.gates.instances import sample_families

    store = LineStore(line, context, lake, compute)
    settings, families = store.settings, fresh(store, accepted)

    def progress(done: int, total: int) -> None:
        if done % 20 == 0 or done == total:
            store.log(f"instances: {done} of {total} families")

    with open_jail(store) as pool:
        rows, dropped = sample_families(
            families,
            pool=pool,
            settings=settings.of(FamiliesSettings),
            root_seed=settings.seed,
            cycle=store.cycle,
            workers=pool.workers,
            on_progress=progress,
        )
    store.extra(DROPPED, dropped)
    frame = INSTANCES.frame(rows)
    bands = dict(frame.group_by("band").len().sort("band").iter_rows())
    store.tell(
        {
            "families": len(families),
            "instances": len(rows),
            "dropped": sum(row["instances"] for row in dropped),
        }
        | bands
    )
    return frame


@line.asset(deps=[line.incoming], schema=COMPLEXITY)
def complexity(context: dg.AssetExecutionContext, lake: LakeResource, accepted: pl.DataFrame) -> pl.DataFrame:
    """Measures of the programs of every family that is new: lines, cyclomatic, cognitive and Halstead
    complexity, loops, patterns, time class."""
    from evolake.families.dataset.difficulty import complexity_row

    store = LineStore(line, context, lake)
    frame = COMPLEXITY.frame(complexity_row(family, store.cycle) for family in fresh(store, accepted))
    means = frame.select(pl.col("loc", "cyclomatic", "cognitive", "loop_depth").mean().round(2)).to_dicts()[0]
    store.tell({f"mean_{name}": value for name, value in means.items() if value is not None})
    return frame


@line.asset(deps=[*of_record.assets, "accepted"], schema=FUNNEL)
def funnel(context: dg.AssetExecutionContext, lake: LakeResource, candidates: pl.DataFrame) -> pl.DataFrame:
    """How many came to each gate and passed, by operator; what accepted and rejected attempts took, and the
    cost of one accepted family."""
    from evolake.families.evolution.cycle_measures import divergence, funnel_rows, resource_rows
    from evolake.families.evolution.stages import gates_of

    store = LineStore(line, context, lake)
    cycle, rows = store.cycle, candidates.to_dicts()
    failed_proposals = store.rows(FAILED_PROPOSALS.name)
    spent = resource_rows(
        rows,
        of_record.passed(store, candidates),
        store.rows("candidates", AGENT_CALLS),
        cycle,
        len(failed_proposals),
    )
    store.extra(RESOURCES, spent)
    frame = FUNNEL.frame(funnel_rows(rows, gates_of(of_record.verdicts(store)), cycle, failed_proposals))
    shown = {
        f"{row['gate']}": f"{row['passed']} of {row['came']}"
        for row in frame.filter(pl.col("operator") == "all").to_dicts()
    }
    ratio = divergence(spent)
    store.tell(
        shown
        | {"usd_an_accepted_family": spent[-1]["usd_each"] or 0.0}
        | ({"rejected_takes_times": ratio} if ratio else {})
    )
    return frame


@line.asset(deps=[line.incoming], schema=DRIFT)
def drift(
    context: dg.AssetExecutionContext, lake: LakeResource, compute: ComputeResource, accepted: pl.DataFrame
) -> pl.DataFrame:
    """pass@k of a solver model on new families and their parents. No rows unless a model is named for the
    role `families_solver`."""
    from evolake.families.evolution.cycle_measures import drift_summary, measure_pair
    from evolake.families.model.population import load_family
    from evolake.families.roles.readers import SOLVER_ROLE
    from evolake.gates import Raised, contained

    store = LineStore(line, context, lake, compute)
    cycle, settings = store.cycle, store.settings
    wanted = DRIFT_PAIRS if settings.backend == "model" and SOLVER_ROLE.name in settings.models else 0
    parents = {row["family_id"]: row for row in archive(store).rows("accepted")}
    pairs = [
        (row, parents[row["parents"][0]])
        for row in accepted.to_dicts()
        if row["parents"] and row["parents"][0] in parents
    ][:wanted]
    rows: list[dict[str, Any]] = []
    if pairs:
        with store.roles() as agents, open_jail(store) as pool:
            for pair in pairs:
                child, parent = (load_family(row["record_sha"], store.blobs) for row in pair)
                result = contained(
                    measure_pair,
                    child,
                    parent,
                    pool=pool,
                    agents=agents,
                    settings=settings.of(FamiliesSettings),
                    cycle=cycle,
                    root_seed=settings.seed,
                )
                if isinstance(result, Raised):
                    store.warn(f"{child.name} and its parent are not compared: {result.reason}")
                else:
                    rows += result
    else:
        store.side(AGENT_CALLS, [])
    summary = drift_summary(rows, cycle, settings.seed)
    store.extra(DRIFT_SUMMARY, summary)
    store.tell({"pairs": len(pairs)} | {f"delta_pass_at_{row['k']}": json.dumps(row) for row in summary})
    return DRIFT.frame(rows)
