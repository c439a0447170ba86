"""The line itself, and what all its assets share: the archive that entered the cycle, the rules in force, the
workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assets.added_seeds import with_added_seeds
from assets.cycle import Line
from assets.rules import rules_asset
from assets.store import LineStore
from evolake.lazy import Lazy
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables import ARCHIVE

if TYPE_CHECKING:
    from evolake.gates import Ruleset
    from evolake.solvers.evolution.population import Population
    from evolake.solvers.evolution.workspace import Workspace


def _no_compiler() -> str | None:
    from evolake.errors import MachineryError
    from evolake.solvers.repository.build import compiler

    try:
        compiler()
    except MachineryError as error:
        return f"{error.what}; on Debian: apt-get install g++ make"
    return None


line = Line(
    "solvers",
    "Whole SAT-solver repositories that evolve under proof-checked gates.",
    owners=("team:evolake",),
    population=ARCHIVE,
    missing=_no_compiler,
    artifact=lambda row: {
        "artifact_id": row["variant_id"],
        "kind": "variant",
        "content_sha": row["archive_sha"],
        "title": row["title"],
    },
    proposers={
        "plan": (Lazy("evolake.solvers.roles.planner:PLANNER"),),
        "variants": (
            Lazy("evolake.solvers.roles.coder:CODER"),
            Lazy("evolake.solvers.roles.coder:CODER_SESSION"),
        ),
    },
)
rules = rules_asset(line)


def archive(store: LineStore) -> Population:
    """Return the population that entered the cycle, with its added seeds."""
    from evolake.solvers.evolution.population import population_of

    return with_added_seeds(store, population_of(store.population()), "variants")


def rules_in_force(store: LineStore, population: Population) -> Ruleset:
    """Return the rule files and the learned rules of earlier cycles, pinned."""
    import evolake.solvers.rules  # noqa: F401  # pyright: ignore[reportUnusedImport]  (registers the checkers)
    from evolake.solvers.rules.learned import with_learned

    return with_learned(store.rules(), population.rule_proposals.to_dicts())


def open_workspace(store: LineStore, population: Population) -> Workspace:
    """Return where this cycle's variants are unpacked, built and run."""
    from evolake.solvers.evolution.workspace import Workspace
    from evolake.solvers.repository.seeding import seed_trees

    settings, work = store.settings, store.lake.root / "work" / line.name
    return Workspace(
        store.blobs,
        work,
        settings.seeds,
        settings.of(SolversSettings),
        settings.seed,
        {row["base"]: row for row in population.seeds()},
        seed_trees(store.blobs, work / "cache", seeds=settings.seeds / "solvers.toml"),
        store.remote,
        live=tuple(population.rows("accepted", "champion")),
    )
