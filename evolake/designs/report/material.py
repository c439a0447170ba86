"""What the figures of the designs line are drawn from. Used by the assets' metadata and by the report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from evolake.designs.evolution.population import Population, texts_of
from evolake.errors import MachineryError

if TYPE_CHECKING:
    import polars as pl

    from evolake.objectives.long_consensus import LongConsensus
    from evolake.report.finished_cycle import FinishedCycle

FIGURES = "evolake.designs.report.figures"


def not_given() -> NoReturn:
    """Stands for what an asset does not have."""
    raise MachineryError("this figure cannot be drawn here", do="name another asset in its FIGURE, or none")


@dataclass(frozen=True)
class Material:
    """ranked: the cycle's consensus. consensus: rows of RANKING of all cycles so far. texts: a blob as text.
    Asked for where a figure needs them."""

    population: Population
    ranked: Callable[[], LongConsensus] = not_given
    consensus: Callable[[], pl.DataFrame] = not_given
    texts: Callable[[str], str] = lambda sha: not_given()


@dataclass(frozen=True)
class VotingObjectives:
    """The objectives of a consensus by round of creation and family. tau: (K, K). ranks: (K, designs),
    average ranks. multipliers: of the review."""

    labels: list[str]
    families: list[str]
    weights: np.ndarray
    multipliers: list[float]
    tau: np.ndarray
    ranks: np.ndarray


def baseline_of(population: Population) -> str | None:
    """Return the seed that the others are held against: that of the name, else the first by title; None where
    the line has no seed."""
    seeds = sorted(
        (row["title"] != "baseline", row["title"], row["design_id"])
        for row in population.designs.to_dicts()
        if row["origin"] == "seed"
    )
    return seeds[0][2] if seeds else None


def voting_objectives(material: Material) -> VotingObjectives:
    """Return those that ranked the cycle."""
    from evolake.objectives.kendall import rank_rows

    ranked = material.ranked()
    known: dict[str, dict[str, Any]] = {
        row["objective_id"]: row for row in material.population.objectives.to_dicts()
    }
    rows = [known[str(name)] for name in ranked.objective_ids]
    order = sorted(
        range(len(rows)),
        key=lambda place: (rows[place]["created_round"], rows[place]["family"], rows[place]["objective_id"]),
    )
    return VotingObjectives(
        labels=[f"{rows[place]['family']} {rows[place]['objective_id'][:4]}" for place in order],
        families=[rows[place]["family"] for place in order],
        weights=ranked.result.weights[order],
        multipliers=[rows[place]["multiplier"] for place in order],
        tau=ranked.result.tau[np.ix_(order, order)],
        ranks=rank_rows(ranked.scores).average[order],
    )


def material_of(report: FinishedCycle, population: Population) -> Material:
    """Of one finished cycle and the population that left it."""
    from evolake.objectives.long_consensus import rank_long

    def ranked() -> LongConsensus:
        scores = report.lake.read("designs", "final_scores", report.cycle)
        weights = report.lake.read("designs", "final_ranking_weights", report.cycle)
        created = dict(population.objectives.select("objective_id", "created_round").iter_rows())
        multipliers = dict(weights.select("objective_id", "multiplier").iter_rows())
        return rank_long(
            scores.select("objective_id", "design_id", "score"),
            created,
            int(report.cycle),
            multipliers=multipliers,
        )

    return Material(population, ranked, lambda: report.tables["consensus"], texts_of(report.lake))
