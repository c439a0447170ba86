"""The opening of a cycle: directions by the planner, candidates by the designer, the race where the settings
ask for one, verdicts by the gates; and the design files that the line starts from, through the same gates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.added_seeds import Admit, Arrival, Seedling, admit_seeds, with_seeds
from assets.designs.line import (
    archive,
    candidate_rows,
    gates,
    jails,
    line,
    record_admitted,
    record_arrived,
    record_candidates,
    rules,
    so_far,
)
from assets.store import LineStore
from evolake.designs.evolution.gate_specs import GATES
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import DESIGNS, DIRECTIONS, FAILED_PROPOSALS, RACED, TRIALS
from resources.agents import AgentsResource
from resources.compute import ComputeResource
from resources.jail import JailResource
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.compute import Jails
    from evolake.designs.evolution.breeding import Bred
    from evolake.designs.evolution.importing import Arrived
    from evolake.designs.evolution.population import Population
    from evolake.designs.evolution.proposals import Judged
    from evolake.designs.genome.open_genome import OpenGenome


@line.seed_asset(deps=[rules], gates=(), schema=DESIGNS, kinds={"python"})
def seeds(context: dg.AssetExecutionContext, lake: LakeResource, jail: JailResource) -> pl.DataFrame:
    """Seed designs, judged by every gate; seals the population that enters cycle 0001. A file that is blocked
    stays as a row and does not enter."""
    from evolake.designs.evolution.population import SEEDS, empty_population
    from evolake.designs.evolution.proposals import seed_candidate
    from evolake.designs.genome.open_compose import recognised
    from evolake.lake.added_seeds import seeds_of

    store = LineStore(line, context, lake)
    judge = gates(store, jails(jail))
    known: dict[str, str] = {}
    candidates: list[Judged] = []
    items = seeds_of(SEEDS, store.settings)
    for item in items:
        source = item.pack().decode(errors="replace")
        candidate = seed_candidate(item.name, source, known, judge, recognised(source, jails(jail)))
        if candidate.accepted and candidate.traced is not None:
            known[candidate.traced.graph_sha] = candidate.design_id
        candidates.append(candidate)
    rows = candidate_rows(store, candidates)
    tables = with_seeds(store, empty_population().add(designs=rows), items, "designs", rows).frames()
    store.may_seal(tables)
    record_candidates(store, candidates)
    store.tell(
        store.seal_seeds(
            rows,
            tables,
            lacking=f"no seed design in {store.settings.seeds / SEEDS.folder} can be used",
            do="Add a design file and materialize again.",
        )
    )
    return DESIGNS.frame(rows)


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
    judge = gates(store, pool)
    done = breed(
        starters_of(population, fresh, store.text),
        RaceSetup(judge, judge.of_genome, compute.executor(), settings.backend, pool.workers),
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


@line.asset(deps=[line.incoming], schema=DIRECTIONS)
def directions(
    context: dg.AssetExecutionContext, lake: LakeResource, agents: AgentsResource, jail: JailResource
) -> pl.DataFrame:
    """Ask the planner for its directions for this cycle: high upper confidence bounds first, with the designs
    to build on.

    Opens the cycle, and takes in new seed designs, what `evolake designs merge` has brought from other lakes,
    and what `evolake designs import` has.
    """
    from evolake.designs.evolution.importing import admit_imports
    from evolake.designs.evolution.merge import admit_merges
    from evolake.designs.evolution.planning import plan_directions
    from evolake.designs.evolution.population import SEEDS, population_of
    from evolake.lake.added_seeds import seeds_of

    store = LineStore(line, context, lake)
    cycle, settings = store.cycle, store.settings
    with store.roles(agents) as served:
        opened, notes, sealed = store.open_cycle(), store.guidance(), population_of(store.population())
        admit_seeds(
            store, sealed, lambda: seeds_of(SEEDS, settings), "designs", admitting(store, sealed, jails(jail))
        )
        admitted = admit_merges(store.lake, archive(store), gates(store, jails(jail)), cycle)
        record_admitted(store, admitted)
        arrived = admit_imports(
            store.lake, admitted.population, gates(store, jails(jail)), cycle, recognising(jails(jail))
        )
        record_arrived(store, arrived)
        plan = plan_directions(
            served,
            arrived.population,
            store.text,
            settings=settings.of(DesignsSettings),
            cycle=cycle,
            root_seed=settings.seed,
            guidance=notes,
        )
    if plan.failure:
        store.warn(f"the planner gave no usable reply ({plan.failure.reason}); this cycle has no directions")
    store.tell(
        opened.metadata()
        | {"backend": settings.backend, "guidance": len(notes), "merged": len(admitted.designs)}
        | _came(arrived)
    )
    return DIRECTIONS.frame(plan.rows)


def _came(arrived: Arrived) -> dict[str, int]:
    """Metadata of an import; nothing if none came."""
    states = [note["state"] for note in arrived.notes]
    return {f"imported_{state}": states.count(state) for state in sorted(set(states))}


def recognising(pool: Jails) -> Callable[[str], OpenGenome | None]:
    """Find the genome that computes what a file does; None if it is not the baseline."""
    from evolake.designs.genome.open_compose import recognised

    return lambda source: recognised(source, pool)


def admitting(store: LineStore, population: Population, pool: Jails) -> Admit:
    """Return what becomes of a seed design that immigrates: as of any other, compared with all that are
    there."""
    from evolake.designs.evolution.proposals import design_row, seed_candidate, store_candidate

    recognise = recognising(pool)
    judge, known = gates(store, pool), population.graphs()
    present = {row["source_sha"]: row for row in population.designs.to_dicts() if row["state"] != "blocked"}

    def admit(seed: Seedling) -> Arrival:
        assert seed.blob_sha is not None, "a file can always be kept"
        if seed.blob_sha in present:
            return Arrival(present[seed.blob_sha], present=True)
        source = store.blobs.get(seed.blob_sha).decode(errors="replace")
        candidate = seed_candidate(seed.name, source, known, judge, recognise(source))
        if candidate.accepted and candidate.traced is not None:
            known[candidate.traced.graph_sha] = candidate.design_id
        return Arrival(
            design_row(candidate, store.cycle, *store_candidate(store.blobs, candidate)),
            candidate.examined.verdicts,
        )

    return admit


@line.asset(
    deps=[line.incoming, rules],
    gates=[gate.name for gate in GATES],
    schema=DESIGNS,
    kinds={"python", "bubblewrap"},
)
def candidates(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    agents: AgentsResource,
    jail: JailResource,
    compute: ComputeResource,
    directions: pl.DataFrame,
) -> pl.DataFrame:
    """Create new designs with the verdict of every gate: accepted, or blocked by the first gate that objects.
    Blocked ones stay as rows.

    Where the setting `race.candidates` asks for it, children of the best race over sizes and seeds, and the
    best of these are candidates too.
    """
    from evolake.designs.evolution.designing import DesignerTurn, propose_candidates
    from evolake.designs.evolution.trials import SessionDesigner, TrialRunner, chosen_designer

    store = LineStore(line, context, lake, compute)
    cycle, settings, population = store.cycle, store.settings, so_far(store)
    sizes = settings.of(DesignsSettings)
    designer = chosen_designer(sizes, settings.backend, settings.budget)
    trials = (
        TrialRunner(sizes, cycle, settings.seed)
        if settings.backend == "model" and designer == "one-shot" and sizes.revise
        else None
    )
    heaviest = population.objectives.sort("multiplier", "objective_id", descending=[True, False])[
        "description"
    ].to_list()
    with store.roles(agents) as served:
        pool = jails(jail)
        session = None
        if designer == "session":
            session = SessionDesigner(
                served, pool, pool.call, sizes, cycle, settings.seed, settings.agents.session.turns
            )
        turn = DesignerTurn(
            served,
            gates(store, pool),
            sizes,
            store.seeds,
            settings.backend,
            session,
            pool.workers,
            trials,
            settings.agents.waves,
        )
        proposals = propose_candidates(turn, population, directions.to_dicts(), store.text, heaviest[:5])
        bred = raced(store, compute, pool, population, proposals.candidates)
    rows = record_candidates(
        store,
        [*proposals.candidates, *(bred.entering if bred else ())],
        also_judged=bred.judged if bred else (),
    )
    store.extra(FAILED_PROPOSALS, (row | {"cycle": cycle} for row in proposals.failed_proposals))
    if trials is not None:
        store.extra(TRIALS, proposals.trials)
    if not rows:
        store.warn("this cycle has no candidate; it ranks what it has")
    store.tell(
        {
            "accepted": sum(row["state"] == "accepted" for row in rows),
            "blocked": sum(row["state"] == "blocked" for row in rows),
            "failed_calls": len(proposals.failures),
            "repeats": proposals.repeats,
            "trial_runs": len(proposals.trials),
            "backend": settings.backend,
            "raced": len(bred.judged) if bred else 0,
            "cpu_s": round(bred.cpu_s, 2) if bred else 0.0,
            "dynamics": bred.dynamics if bred else 0,
        }
    )
    return DESIGNS.frame(rows)
