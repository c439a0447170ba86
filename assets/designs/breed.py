"""The race of a cycle, where the settings ask for one: what it needs of the lake, and its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from assets.designs.line import gates
from assets.store import LineStore
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import RACED
from resources.compute import ComputeResource

if TYPE_CHECKING:
    from evolake.compute import Jails
    from evolake.designs.evolution.breeding import Bred
    from evolake.designs.evolution.population import Population
    from evolake.designs.evolution.proposals import Judged


def raced_before(store: LineStore) -> list[dict[str, Any]]:
    """Return rows of RACED of the earlier cycles that raced on the same formulas as this one."""
    from evolake.designs.evolution.breeding import cycles_of_same_formulas

    lake, line = store.lake, store.line.name
    earlier = [
        cycle
        for cycle in cycles_of_same_formulas(store.cycle)
        if lake.record(line, RACED.name, cycle) is not None
    ]
    return [row for cycle in earlier for row in lake.read(line, RACED.name, cycle).to_dicts()]


def raced(
    store: LineStore, compute: ComputeResource, pool: Jails, population: Population, fresh: Sequence[Judged]
) -> Bred | None:
    """Race children of the archive's best and of the cycle's accepted candidates; publishes a row of RACED
    for each racer, in every cycle."""
    from evolake.designs.evolution.breeding import KnownDesigns, RaceSetup, breed, should_breed, starters_of
    from evolake.designs.evolution.proposals import store_candidate

    settings = store.settings
    sizes = settings.of(DesignsSettings)
    if not should_breed(sizes, settings.backend):
        store.extra(RACED, [])
        return None
    earlier = raced_before(store)
    passed = {
        item.traced.graph_sha: item.design_id for item in fresh if item.accepted and item.traced is not None
    }
    known = KnownDesigns(
        dict(population.graphs()) | passed, population.keys() | {item.key() for item in fresh}, earlier
    )
    done = breed(
        starters_of(population, fresh, store.text),
        RaceSetup(gates(store, pool), compute.executor(), settings.backend, pool.workers),
        known,
        settings=sizes,
        cycle_seeds=store.seeds,
    )
    kept = {
        item.design_id: dict(
            zip(("source_sha", "traced_sha"), store_candidate(store.blobs, item), strict=True)
        )
        for item in done.judged
    }
    store.extra(
        RACED, (row if row["state"] == "start" else row | kept[row["design_id"]] for row in done.rows)
    )
    store.log(
        f"{len(done.judged)} children raced, {len(done.entering)} of them enter; the best hold "
        f"{done.dynamics} different dynamics; simulating took {done.cpu_s:.0f} s of the processors"
    )
    if cut := sum(row["timed_out"] for row in done.rows):
        store.warn(
            f"the wall guard cut {cut} of {len(done.rows)} racers short: with the same seed the race may "
            "come out otherwise elsewhere"
        )
    return done
