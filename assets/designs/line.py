"""The line itself, and what all its assets share: the archive that entered the cycle, and the gates with
their rules bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assets.added_seeds import with_added_seeds
from assets.cycle import Line
from assets.rules import rules_asset
from assets.store import LineStore
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import ARCHIVE
from evolake.lake import DERIVATIONS
from evolake.lazy import Lazy

if TYPE_CHECKING:
    from evolake.compute import Jails
    from evolake.designs.evolution.population import Population
    from evolake.designs.evolution.proposals import Judge
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
            Lazy("evolake.designs.roles.designer_session:DESIGN_SESSION"),
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


def gates(store: LineStore, pool: Jails) -> Judge:
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
