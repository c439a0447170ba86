"""What the figures of the solvers line are drawn from, and what several of them ask. Used by the assets'
metadata and by the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evolake.solvers.evolution.population import Population

if TYPE_CHECKING:
    from evolake.lake import Lake


@dataclass(frozen=True)
class Material:
    """The lake, and the population that leaves `cycle`; tables of later cycles are not looked at."""

    lake: Lake
    cycle: str
    population: Population

    @property
    def champion(self) -> dict[str, Any]:
        """Row of VARIANTS."""
        return self.population.rows("champion")[0]

    @property
    def rows(self) -> dict[str, dict[str, Any]]:
        """Variant id -> row of VARIANTS."""
        return {row["variant_id"]: row for row in self.population.rows()}

    @property
    def timeout_s(self) -> float:
        """The longest limit of a run."""
        return float(self.population.runs["timeout_s"].max() or 0.0)  # pyright: ignore[reportArgumentType]


def rival_of(population: Population, champion: dict[str, Any]) -> tuple[str, str]:
    """Whom the champion is drawn against, and in which role: its parent, its seed where the parent's runs are
    gone, or, for a seed, its rival."""
    measured = set(population.runs["variant_id"])
    if champion["parents"]:
        parent = champion["parents"][0]
        return (
            (parent, "parent")
            if parent in measured
            else (population.seed_of(champion["base"])["variant_id"], "seed")
        )
    rivals = [
        row["variant_id"]
        for row in population.ranking.sort("rank").to_dicts()
        if row["variant_id"] != champion["variant_id"]
    ]
    return next((name for name in rivals if name in measured), champion["variant_id"]), "rival"


def title_of(row: dict[str, Any]) -> str:
    """Return a variant's name on a figure."""
    return row["title"] + ("" if row["operator"] == "seed" else f" ({row['variant_id'][:6]})")
