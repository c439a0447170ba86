"""The line itself, and what all its assets share: the archive that entered the cycle, the jail, the gates
with everything bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assets.added_seeds import with_added_seeds
from assets.cycle import Line
from assets.rules import rules_asset
from assets.store import LineStore
from evolake.families.settings import FamiliesSettings
from evolake.families.tables import ARCHIVE
from evolake.lazy import Lazy

if TYPE_CHECKING:
    from evolake.agents import Agents
    from evolake.compute import Jails
    from evolake.families.gates.judging import FamilyGates
    from evolake.families.model.population import Population
    from evolake.gates import Ruleset

line = Line(
    "families",
    "Verifiable task families: generator, question template and validators that evolve behind gates.",
    owners=("team:evolake",),
    population=ARCHIVE,
    artifact=lambda row: {
        "artifact_id": row["family_id"],
        "kind": "family",
        "content_sha": row["record_sha"],
        "title": row["title"],
    },
    proposers={
        "candidates": (
            Lazy("evolake.families.roles.evolution_agent:EVOLUTION_ROLE"),
            Lazy("evolake.families.roles.evolution_agent:EVOLUTION_SESSION"),
        )
    },
)
rules = rules_asset(line)


def archive(store: LineStore) -> Population:
    """Return the population that entered the cycle, with its added seeds."""
    from evolake.families.model.population import population_of

    return with_added_seeds(store, population_of(store.population()), "families")


def open_jail(store: LineStore) -> Jails:
    """Return a pool of workers that have imported what families use, those of the cluster where one computes.
    Close it: `with open_jail(store) as pool`.

    Raises:
        JailUnavailable: no working sandbox.
    """
    from evolake.compute import open_jails
    from evolake.families.sandbox.running import PRELOAD

    return open_jails(store.remote, store.settings.workers, PRELOAD, store.settings.jail)


def judge(
    store: LineStore, pool: Jails, agents: Agents, ruleset: Ruleset, sizes: FamiliesSettings | None = None
) -> FamilyGates:
    """Return all gates with everything bound but the family and the fingerprints of those that it must differ
    from. In a cycle they draw by the secret of the lake, so that no author can try draws beforehand; for
    seeds as for their shipped evidence. sizes: others than the settings'."""
    from evolake.families.gates.judging import FamilyGates
    from evolake.lake.secret import lake_secret, secret_seed

    settings = store.settings
    root = settings.seed
    if store.partition is not None:
        root = secret_seed(lake_secret(store.lake.root), settings.seed, line.name, "gates")
    return FamilyGates(
        pool, agents, ruleset, sizes or settings.of(FamiliesSettings), store.cycle, store.run_id, root
    )
