"""The line itself, and what all its assets share: the archive that entered the cycle, the gates with their
rules bound, and the rows that candidates become (designs, artifacts, derivations, verdicts)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assets.added_seeds import with_added_seeds
from assets.cycle import Line
from assets.rules import rules_asset
from assets.store import LineStore
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import ARCHIVE, ARRIVALS, DESIGNS
from evolake.lake import ARTIFACTS, DERIVATIONS, VERDICTS, side_table
from evolake.lazy import Lazy

if TYPE_CHECKING:
    from evolake.compute import Jails
    from evolake.designs.evolution.importing import Arrived
    from evolake.designs.evolution.judging import DesignGates
    from evolake.designs.evolution.merge import Admitted
    from evolake.designs.evolution.population import Population
    from evolake.designs.evolution.proposals import Judged
    from resources.jail import JailResource


def _artifact(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a design, or an objective."""
    if "design_id" in row:
        return {
            "artifact_id": row["design_id"],
            "kind": "design",
            "content_sha": row["source_sha"],
            "title": row["title"],
        }
    return {
        "artifact_id": row["objective_id"],
        "kind": "objective",
        "content_sha": row["source_sha"],
        "title": row["description"],
    }


line = Line(
    "designs",
    "3-SAT solver designs and the objectives that judge them.",
    owners=("team:evolake",),
    population=ARCHIVE,
    artifact=_artifact,
    proposers={
        "directions": (Lazy("evolake.designs.roles.planner:DIRECTIONS_ROLE"),),
        "candidates": (
            Lazy("evolake.designs.roles.designer:DESIGN_ROLE"),
            Lazy("evolake.designs.roles.designer:DESIGN_SESSION"),
        ),
    },
)
rules = rules_asset(line)


def archive(store: LineStore) -> Population:
    """Return the population that entered the cycle, with its added seeds."""
    from evolake.designs.evolution.population import population_of

    return with_added_seeds(store, population_of(store.population()), "designs")


def jails(jail: JailResource) -> Jails:
    """Return those of the run, which have made a trace of ours before: else every candidate would load the
    tracer for itself."""
    from evolake.designs.tracing.trace import PRELOAD

    return jail.open(PRELOAD)


def gates(store: LineStore, pool: Jails) -> DesignGates:
    """Return the gates of a design with rules, sizes and seed bound: what `evolution.proposals` calls a
    judge. The ruleset is pinned here."""
    from evolake.designs.evolution.judging import DesignGates

    settings = store.settings
    return DesignGates(
        pool, store.rules(), settings.of(DesignsSettings), store.cycle, store.run_id, settings.seed
    )


def so_far(store: LineStore, *upto: str) -> Population:
    """Return the archive plus what this cycle has added: `upto` names the assets whose rows count
    (candidates, experiments, ...).

    Reads this cycle's own parts and nothing else, so any asset of an old cycle can be materialized again.
    """
    population = archive(store).admit(store.rows("merged_designs"), store.rows("directions", DERIVATIONS))
    if store.has("imported_designs"):
        population = population.admit(store.rows("imported_designs"), [])
    if "candidates" in upto:
        population = population.admit(store.rows("candidates"), store.rows("candidates", DERIVATIONS))
    for asset in ("experiments", "promoted_experiments"):
        if asset in upto:
            population = population.add(experiments=store.rows(asset))
    return population.add(objectives=store.rows("objectives")) if "objectives" in upto else population


def record_candidates(
    store: LineStore, candidates: Sequence[Judged], *, tuned: bool = False, also_judged: Sequence[Judged] = ()
) -> list[dict[str, Any]]:
    """Return rows of DESIGNS. Stores sources and graphs as blobs and publishes the asset's rows of the shared
    tables.

    also_judged: what has verdicts and becomes no design, such as most of what raced; candidates that are
    among them count once.
    """
    from evolake.designs.evolution.proposals import derivation_rows

    rows = candidate_rows(store, candidates, tuned=tuned)
    store.artifacts(rows)
    store.derivations(row for candidate in candidates for row in derivation_rows(candidate, store.cycle))
    judged = {candidate.design_id: candidate for candidate in (*candidates, *also_judged)}
    store.verdicts(verdict for candidate in judged.values() for verdict in candidate.examined.verdicts)
    return rows


def candidate_rows(
    store: LineStore, candidates: Sequence[Judged], *, tuned: bool = False
) -> list[dict[str, Any]]:
    """Return rows of DESIGNS. Stores sources and graphs as blobs."""
    from evolake.designs.evolution.proposals import design_row, store_candidate

    return [
        design_row(candidate, store.cycle, *store_candidate(store.blobs, candidate), tuned=tuned)
        for candidate in candidates
    ]


def record_admitted(store: LineStore, admitted: Admitted) -> None:
    """Publish what a merge brought in: the designs as their own table, and their rows of the shared tables
    (often none)."""
    store.extra(DESIGNS, admitted.designs, "merged_designs")
    store.artifacts(admitted.designs)
    store.derivations(admitted.derivations)
    store.verdicts(admitted.verdicts)


def record_arrived(store: LineStore, arrived: Arrived) -> None:
    """Publish what an import brought in, as separate tables, in the cycle that takes it in."""
    name = "imported_designs"
    if not arrived.bundles and not store.has(name):
        return
    store.extra(DESIGNS, arrived.designs, name)
    store.extra(ARRIVALS, arrived.notes)
    store.artifacts(arrived.designs, name=side_table(name, ARTIFACTS))
    store.extra(VERDICTS, (verdict.row() for verdict in arrived.verdicts), side_table(name, VERDICTS))


def arrived_bundles(store: LineStore) -> list[str]:
    """Return ids of the imported bundles that the opening of this cycle took in."""
    return sorted({row["bundle_id"] for row in store.rows(ARRIVALS.name)}) if store.has(ARRIVALS.name) else []
