"""The opening of a cycle: directions by the planner, candidates by the designer, verdicts by the gates."""

from __future__ import annotations

import dagster as dg
import polars as pl

from assets.cycle import open_cycle
from assets.designs.line import archive, gates, line, publish_extra, publish_side, rules, so_far, texts_of
from assets.designs.records import record_admitted, record_candidates
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import DESIGNS, DIRECTIONS
from evolake.lake import AGENT_CALLS, TableSchema
from resources.agents import AgentsResource
from resources.jail import JailResource
from resources.lake import LakeResource

UNMADE = TableSchema("unmade", 1, {"number": pl.Int64, "cycle": pl.String, "role": pl.String, "reason": pl.String}, keys=("number",))
"""Calls that gave no candidate. number: counts them within the cycle."""


@line.asset(deps=[line.incoming], schema=DIRECTIONS)
def directions(context: dg.AssetExecutionContext, lake: LakeResource, agents: AgentsResource, jail: JailResource) -> pl.DataFrame:
    """The planner's directions for this cycle: high upper confidence bounds first, with the designs to build on.

    Opens the cycle, and takes in what `evolake designs merge` has brought from other lakes.
    """
    from evolake.agents import read_guidance
    from evolake.designs.evolution.merge import admit_merges
    from evolake.designs.evolution.planning import plan_directions

    cycle, settings, store = context.partition_key, lake.settings(), lake.open()
    with agents.open(lake, cycle, context.run_id, line=line.name) as served:
        opened = open_cycle(context, lake, line)
        admitted = admit_merges(store, archive(lake, cycle), gates(lake, jail.open(), cycle, context.run_id), cycle)
        record_admitted(context, store, admitted)
        notes = [note.text for note in read_guidance(store.root, line.name, cycle)]
        plan = plan_directions(
            served, admitted.population, texts_of(lake), settings=settings.of(DesignsSettings), cycle=cycle, root_seed=settings.seed, guidance=notes
        )
        publish_side(store, "directions", AGENT_CALLS, served.rows(), cycle=cycle, run_id=context.run_id)
    if plan.failure:
        context.log.warning(f"WARN: the planner gave no usable reply ({plan.failure.reason}); this cycle has no directions")
    context.add_output_metadata(opened.metadata() | {"backend": settings.backend, "guidance": len(notes), "merged": len(admitted.designs)})
    return DIRECTIONS.frame(plan.rows)


@line.asset(deps=[rules], schema=DESIGNS, kinds={"python", "bubblewrap"})
def candidates(
    context: dg.AssetExecutionContext, lake: LakeResource, agents: AgentsResource, jail: JailResource, directions: pl.DataFrame
) -> pl.DataFrame:
    """New designs with the verdict of every gate: accepted, or blocked by the first gate that objects. Blocked ones stay as rows."""
    from evolake.designs.evolution.proposals import propose_candidates

    cycle, settings, store = context.partition_key, lake.settings(), lake.open()
    population = so_far(lake, cycle)
    heaviest = population.objectives.sort("multiplier", "objective_id", descending=[True, False])["description"].to_list()
    with agents.open(lake, cycle, context.run_id, line=line.name) as served:
        proposals = propose_candidates(
            served, population, directions.to_dicts(), texts_of(lake), gates(lake, jail.open(), cycle, context.run_id),
            settings=settings.of(DesignsSettings), cycle=cycle, root_seed=settings.seed, origin=settings.backend, objectives=heaviest[:5],
        )
        publish_side(store, "candidates", AGENT_CALLS, served.rows(), cycle=cycle, run_id=context.run_id)
    rows = record_candidates(store, "candidates", proposals.candidates, cycle=cycle, part=cycle, run_id=context.run_id)
    unmade = [
        {"number": number, "cycle": cycle, "role": failure.role, "reason": failure.reason} for number, failure in enumerate(proposals.failures)
    ]
    publish_extra(store, "unmade", UNMADE, unmade, context=context)
    if not rows:
        context.log.warning("WARN: this cycle has no candidate; it ranks what it has")
    context.add_output_metadata({
        "accepted": sum(row["state"] == "accepted" for row in rows), "blocked": sum(row["state"] == "blocked" for row in rows),
        "failed_calls": len(proposals.failures), "repeats": proposals.repeats, "backend": settings.backend,
    })
    return DESIGNS.frame(rows)
