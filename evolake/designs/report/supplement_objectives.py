"""The portfolio of objectives: weights over the cycles, agreement among themselves and with the consensus,
the whole list."""

from __future__ import annotations

import numpy as np
import polars as pl

from evolake.designs.evolution.population import Population
from evolake.designs.report.material import Material

WEIGHTS = (
    "SELECT cycle, objective_id, family, weight FROM designs.final_ranking_weights WHERE cycle <= $cycle"
)


def weights_by_cycle(weights: pl.DataFrame) -> pl.DataFrame:
    """Return one row per cycle, one column per kind. weights: by WEIGHTS."""
    if weights.is_empty():
        return pl.DataFrame(schema={"cycle": pl.String})
    wide = (
        weights.group_by("cycle", "family")
        .agg(pl.col("weight").sum())
        .pivot("family", index="cycle", values="weight")
        .sort("cycle")
    )
    return wide.select("cycle", *sorted(name for name in wide.columns if name != "cycle"))


def agreement(material: Material) -> pl.DataFrame:
    """Return one row per cycle in which objectives came that vote now: pairs among all that were there by
    then."""
    ranked = material.ranked()
    created = dict(material.population.objectives.select("objective_id", "created_round").iter_rows())
    rounds = np.array([created[str(name)] for name in ranked.objective_ids], dtype=np.int64)
    rows = []
    for last in sorted(set(rounds.tolist())):
        there = np.flatnonzero(rounds <= last)
        pairs = ranked.result.tau[np.ix_(there, there)][np.triu_indices(len(there), 1)]
        rows.append(
            {
                "cycle": f"{last:04d}",
                "objectives": len(there),
                "mean_tau": float(pairs.mean()) if len(pairs) else None,
                "lowest_tau": float(pairs.min()) if len(pairs) else None,
                "negative_pairs": f"{np.mean(pairs < 0):.0%}" if len(pairs) else None,
            }
        )
    return pl.DataFrame(
        rows,
        schema={
            "cycle": pl.String,
            "objectives": pl.Int64,
            "mean_tau": pl.Float64,
            "lowest_tau": pl.Float64,
            "negative_pairs": pl.String,
        },
    )


def with_consensus(material: Material) -> pl.DataFrame:
    """Return one row per kind of objective."""
    from evolake.objectives.kendall import kendall_matrix, rank_rows

    ranked = material.ranked()
    families = dict(material.population.objectives.select("objective_id", "family").iter_rows())
    scores = np.vstack([ranked.scores, ranked.result.consensus[None, :]])
    tau = kendall_matrix(rank_rows(scores))[-1, :-1]
    place = np.empty(len(ranked.design_ids), dtype=np.int64)
    place[ranked.result.order] = np.arange(1, len(place) + 1)
    firsts = place[np.argmin(np.where(np.isnan(ranked.scores), np.inf, ranked.scores), axis=1)]
    kinds = np.array([families[str(name)] for name in ranked.objective_ids])
    return pl.DataFrame(
        [
            {
                "family": kind,
                "objectives": int(own.sum()),
                "mean_tau": float(tau[own].mean()),
                "lowest_tau": float(tau[own].min()),
                "highest_tau": float(tau[own].max()),
                "consensus_place_of_its_first": float(np.median(firsts[own])),
                "has_the_same_first": int((firsts[own] == 1).sum()),
            }
            for kind in sorted(set(kinds.tolist()))
            for own in (kinds == kind,)
        ],
        schema={
            "family": pl.String,
            "objectives": pl.Int64,
            "mean_tau": pl.Float64,
            "lowest_tau": pl.Float64,
            "highest_tau": pl.Float64,
            "consensus_place_of_its_first": pl.Float64,
            "has_the_same_first": pl.Int64,
        },
    )


def complete(population: Population, cycle: str, weights: pl.DataFrame) -> pl.DataFrame:
    """Return one row per objective there ever was, the heaviest first; no weight for one that does not
    vote."""
    now = weights.filter(pl.col("cycle") == cycle).select("objective_id", "weight")
    joined = population.objectives.join(now, on="objective_id", how="left")
    return joined.sort(
        "weight", "created_round", "objective_id", descending=[True, False, False], nulls_last=True
    ).select(
        "weight",
        "multiplier",
        pl.col("cycle").alias("since"),
        "origin",
        "imported_from",
        "family",
        "description",
        "state",
        "reason",
        pl.col("objective_id").alias("objective"),
    )
