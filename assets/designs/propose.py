"""The opening of a cycle: directions by the planner, candidates by the designer, verdicts by the gates."""

from __future__ import annotations

import polars as pl

from assets.designs.line import archive, gates, line, rules, so_far
from assets.designs.records import record_admitted, record_candidates
from assets.store import LineStore
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import DESIGNS, DIRECTIONS, UNMADE
from resources.agents import AgentsResource
from resources.jail import JailResource


@line.asset(deps=[line.incoming], schema=DIRECTIONS)
def directions(store: LineStore, agents: AgentsResource, jail: JailResource) -> pl.DataFrame:
    """The planner's directions for this cycle: high upper confidence bounds first, with the designs to build on.

    Opens the cycle, and takes in what `evolake designs merge` has brought from other lakes.
    """
    from evolake.designs.evolution.merge import admit_merges
    from evolake.designs.evolution.planning import plan_directions

    cycle, settings = store.cycle, store.settings
    with store.roles(agents) as served:
        opened, notes = store.open_cycle(), store.guidance()
        admitted = admit_merges(store.lake, archive(store), gates(store, jail.open()), cycle)
        record_admitted(store, admitted)
        plan = plan_directions(
            served, admitted.population, store.text, settings=settings.of(DesignsSettings), cycle=cycle, root_seed=settings.seed, guidance=notes
        )
    if plan.failure:
        store.warn(f"the planner gave no usable reply ({plan.failure.reason}); this cycle has no directions")
    store.tell(opened.metadata() | {"backend": settings.backend, "guidance": len(notes), "merged": len(admitted.designs)})
    return DIRECTIONS.frame(plan.rows)


@line.asset(deps=[rules], schema=DESIGNS, kinds={"python", "bubblewrap"})
def candidates(store: LineStore, agents: AgentsResource, jail: JailResource, directions: pl.DataFrame) -> pl.DataFrame:
    """New designs with the verdict of every gate: accepted, or blocked by the first gate that objects. Blocked ones stay as rows."""
    from evolake.designs.evolution.proposals import propose_candidates

    cycle, settings, population = store.cycle, store.settings, so_far(store)
    heaviest = population.objectives.sort("multiplier", "objective_id", descending=[True, False])["description"].to_list()
    with store.roles(agents) as served:
        proposals = propose_candidates(
            served, population, directions.to_dicts(), store.text, gates(store, jail.open()),
            settings=settings.of(DesignsSettings), cycle=cycle, root_seed=settings.seed, origin=settings.backend, objectives=heaviest[:5],
        )
    rows = record_candidates(store, proposals.candidates)
    store.extra(UNMADE, (
        {"number": number, "cycle": cycle, "role": failure.role, "reason": failure.reason} for number, failure in enumerate(proposals.failures)
    ))
    if not rows:
        store.warn("this cycle has no candidate; it ranks what it has")
    store.tell({
        "accepted": sum(row["state"] == "accepted" for row in rows), "blocked": sum(row["state"] == "blocked" for row in rows),
        "failed_calls": len(proposals.failures), "repeats": proposals.repeats, "backend": settings.backend,
    })
    return DESIGNS.frame(rows)
