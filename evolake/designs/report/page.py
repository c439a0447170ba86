"""The designs line's part of the page: what the supplement of the paper reports on its own search (figures S1
to S3, tables S1 to S7), from the lake's tables; each part names what it corresponds to there. And the
portfolio of objectives: weights over the cycles, agreement among themselves and with the consensus, the whole
list."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from evolake.designs.evolution.attempts import consensus_winner
from evolake.designs.evolution.population import Population, read_population
from evolake.designs.report import supplement_champion as champion
from evolake.designs.report.material import Material, material_of
from evolake.lake import following
from evolake.report.finished_cycle import FinishedCycle, questions, read_cycle
from evolake.report.pages import Section, section

LINE = "designs"


def weights_by_cycle(weights: pl.DataFrame) -> pl.DataFrame:
    """Return one row per cycle, one column per kind. weights: of the question `weights`."""
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


def coverage(expected: pl.DataFrame) -> str:
    """Return how many of the measured works are inside their intervals. expected: of that question."""
    known = expected["inside"].drop_nulls()
    open_ones = expected.height - known.len()
    beside = f", {open_ones} not decided" if open_ones else ""
    return (
        f"{int(known.sum())} of {known.len()} inside the 95% interval{beside}"
        if expected.height
        else "none yet"
    )


PACKAGE = "evolake.designs.report"


def supplement(report: FinishedCycle, population: Population, material: Material) -> dict[str, pl.DataFrame]:
    """Return what is computed for the tables of the paper's supplement."""
    first, weights = report.champion.artifact_id, report.tables["weights"]
    return {
        "parameters": champion.parameters(population, first),
        "terms": champion.terms(population, first),
        "lineage": champion.lineage(population, first),
        "fits": champion.fits(population, first),
        "by_size": champion.by_size(population, first),
        "weights": weights_by_cycle(weights),
        "agreement": agreement(material),
        "kinds": with_consensus(material),
        "objectives": complete(population, report.cycle, weights),
    }


def designs_section(root: Path, cycle: str) -> Section:
    """Return champion, by how much and with what spread, figures, objectives, funnel, ancestry, the
    champion's file, and the tables of the paper's supplement."""
    report = read_cycle(root, LINE, cycle, questions(PACKAGE, "page.sql"))
    tables, population = report.tables, read_population(report.lake, following(cycle))
    material, first = material_of(report, population), report.champion.artifact_id
    row = population.row(first)
    ranking = tables["consensus"].filter(pl.col("cycle") == cycle).to_dicts()
    return section(
        PACKAGE,
        report,
        material,
        champion=row,
        designs=population.designs.height,
        winner=consensus_winner(population, ranking, report.rows("decisions"), first),
        source=report.lake.blobs.get(row["source_sha"]).decode(),
        coverage=coverage(tables["expected"]),
        supplement=supplement(report, population, material),
    )
