"""The designs line's part of the page: what the supplement of the paper reports on its own search (figures S1
to S3, tables S1 to S7), from the lake's tables; each part names what it corresponds to there. And the
portfolio of objectives: weights over the cycles, agreement among themselves and with the consensus, the whole
list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from markupsafe import Markup

from evolake.designs.evolution.population import Population
from evolake.designs.report import supplement_champion as champion
from evolake.designs.report.data import LINE, SHORTENED, CycleReport, read_report
from evolake.designs.report.material import Material, material_of
from evolake.designs.tables import TABLES
from evolake.lake import Catalogue, Lake
from evolake.report.pages import Section, section, sentence

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


TUNING = """
SELECT t.cycle, any_value(known.title) AS title, count(*) - 1 AS trials, any_value(t.consensus)
  FILTER (t.trial = 0) AS consensus,
  min(t.consensus) AS at_best, any_value(t.largest_solved) FILTER (t.trial = 0) AS largest_n,
    arg_min(t.largest_solved, t.consensus) AS n_at_best,
  any_value(t.median_work) FILTER (t.trial = 0) AS work_there,
  arg_min(t.median_work, t.consensus) AS work_at_best, t.design_id AS design
FROM designs.tuning AS t LEFT JOIN known_artifacts AS known ON known.artifact_id = t.design_id
WHERE t.cycle <= $cycle GROUP BY t.cycle, t.design_id ORDER BY t.cycle DESC"""
REVIEWS = """
SELECT cycle, any_value(research_phase) AS phase, any_value(research_assessment) AS assessment,
  any_value(guidance) AS guidance,
  count(*) FILTER (multiplier > multiplier_before) AS raised, count(*)
    FILTER (multiplier < multiplier_before) AS lowered
FROM designs.meta_review WHERE cycle <= $cycle GROUP BY cycle ORDER BY cycle DESC"""
ANALYSES = """
SELECT a.short_name AS design, a.success_level, a.key_insight,
  a.comparison_to_references AS beside_its_references,
  a.recommended_next_steps AS next_steps
FROM designs.analyses AS a WHERE a.cycle = (SELECT max(cycle) FROM designs.analyses WHERE cycle <= $cycle)
  ORDER BY a.short_name"""
ABLATIONS = """
SELECT slot, term, max(effect) FILTER (kind = 'planted') AS on_planted, max(effect)
  FILTER (kind = 'uniform') AS on_uniform,
  round(max(ratio) FILTER (kind = 'planted'), 2) AS planted_ratio, round(max(ratio)
    FILTER (kind = 'uniform'), 2) AS uniform_ratio, any_value(N) AS N
FROM designs.champion_ablations
WHERE cycle <= $cycle AND design_id = (SELECT any_value(artifact_id) FROM champions WHERE line = 'designs'
  AND cycle = $cycle)
GROUP BY cycle, number, slot, term ORDER BY cycle, number"""
EXPECTED = """
WITH measured AS (
  SELECT design_id, fidelity, N, cycle, max_work, median_work, unsolved_fraction < 0.5 AS solved
  FROM designs.promoted_experiments WHERE cycle <= $cycle
), pairs AS (
  SELECT m.cycle AS measured_in, p.fidelity, p.N, p.expected_work, p.low_work, p.high_work, p.levels,
    m.median_work, m.max_work, m.solved,
    p.design_id
  FROM designs.extrapolations AS p JOIN measured AS m ON m.design_id = p.design_id
    AND m.fidelity = p.fidelity AND m.N = p.N AND m.cycle >= p.cycle
  WHERE p.expected_work IS NOT NULL
  QUALIFY row_number() OVER (PARTITION BY p.design_id, p.fidelity, m.cycle ORDER BY p.cycle DESC) = 1
)
SELECT pairs.measured_in AS cycle, any_value(known.title) AS title, pairs.fidelity, pairs.N,
  pairs.levels AS sizes_fitted,
  pairs.expected_work AS expected, pairs.low_work AS low, pairs.high_work AS high, CASE WHEN pairs.solved
    THEN pairs.median_work END AS measured,
  CASE WHEN pairs.solved THEN pairs.median_work BETWEEN pairs.low_work AND pairs.high_work
    WHEN pairs.max_work > pairs.high_work THEN false END AS inside,
  pairs.design_id AS design
FROM pairs LEFT JOIN known_artifacts AS known ON known.artifact_id = pairs.design_id GROUP BY ALL
  ORDER BY cycle DESC, pairs.N DESC, expected"""
"""`inside` is null where the size was not solved within a budget that the interval reaches beyond."""
ARRIVED = f"""
SELECT i.source, i.original_id AS number_there, coalesce(a.state, CASE WHEN i.state = 'read'
  THEN 'waiting' ELSE i.state END) AS state,
  a.cycle, {SHORTENED.format(text="coalesce(a.reason, i.reason)")} AS reason,
  a.design_id AS design
FROM designs.imports AS i LEFT JOIN designs.import_arrivals AS a ON a.bundle_id = i.bundle_id
  AND a.original_id = i.original_id AND i.state = 'read'
  AND a.cycle <= $cycle
WHERE i.since_cycle <= $cycle ORDER BY i.source, i.original_id"""


def coverage(expected: pl.DataFrame) -> str:
    """Return how many of the measured works are inside their intervals. expected: by EXPECTED."""
    known = expected["inside"].drop_nulls()
    open_ones = expected.height - known.len()
    beside = f", {open_ones} not decided" if open_ones else ""
    return (
        f"{int(known.sum())} of {known.len()} inside the 95% interval{beside}"
        if expected.height
        else "none yet"
    )


@dataclass(frozen=True)
class Part:
    """One table. like: what it corresponds to in the paper, and how it is to be read."""

    title: str
    like: str
    frame: pl.DataFrame


def read_supplement(lake: Lake, report: CycleReport, material: Material) -> list[Part]:
    """Return the parts of one cycle's report, in the order of the paper's supplement."""
    with Catalogue(lake, {(LINE, name): schema for name, schema in TABLES.items()}) as catalogue:

        def ask(sql: str) -> pl.DataFrame:
            return catalogue.frame(sql, {"cycle": report.cycle})

        return [
            *_of_the_champion(report),
            *_of_objectives(report, material, ask(WEIGHTS)),
            *_of_the_record(ask),
        ]


def _of_the_champion(report: CycleReport) -> list[Part]:
    population, first = report.population, report.held.artifact_id
    return [
        Part(
            "Parameters of the champion next to the baseline's",
            "Like table S1: every parameter of either, as it ran.",
            champion.parameters(population, first),
        ),
        Part(
            "Terms of the champion, and who had them first",
            "Like table S3: what its dynamics hold beyond the baseline's, and the first of its primary "
            "lineage that held it.",
            champion.terms(population, first),
        ),
        Part(
            "Primary lineage of the champion",
            "Like figure S2 and table S2: from its seed on, the weightiest parent at each step, what each "
            "brought and how far it came.",
            champion.lineage(population, first),
        ),
        Part(
            "Scaling with fits and intervals",
            "Like figure S3(a), of work: work ~ N^exponent through the solved sizes, with its standard "
            "error; and what the fit expects at the largest size of the table, with the 95% prediction "
            "interval.",
            champion.fits(population, first),
        ),
        Part(
            "Champion against baseline by size",
            "Like figure S3(b), of work: steps times what a step costs, in steps of the baseline. Where a "
            "size was not solved, it is projected. `together` is the paper's own measure, the step at "
            "which more than half are solved at the same time, if the batch is its 100.",
            champion.by_size(population, first),
        ),
    ]


def _of_objectives(report: CycleReport, material: Material, weights: pl.DataFrame) -> list[Part]:
    return [
        Part(
            "Weight of each kind of objective over the cycles",
            "Like table S4, with kinds of objectives for its phases: shares of the consensus; each row "
            "sums to 1.",
            weights_by_cycle(weights),
        ),
        Part(
            "How far the objectives agree, as they came",
            "Like table S5: Kendall's tau of every pair among the objectives that vote now and were there "
            "by then.",
            agreement(material),
        ),
        Part(
            "Objectives against the consensus, by kind",
            "Like table S6: Kendall's tau of each with the consensus, and where the consensus places what "
            "each has first (as in section S2.4).",
            with_consensus(material),
        ),
        Part(
            "All objectives",
            "Like table S7: where each comes from, what it looks at, and what it weighs now.",
            complete(report.population, report.cycle, weights),
        ),
    ]


def _of_the_record(ask: Callable[[str], pl.DataFrame]) -> list[Part]:
    expected = ask(EXPECTED)
    return [
        Part(
            "What each term of the champion does",
            "Not in the paper. Each term was left out by itself when the design became champion; its work "
            "then, on formulas of both kinds, over its work with the term. Empty for a design without a "
            "genome, and where EVOLAKE_DESIGNS__ABLATION_N is 0.",
            ask(ABLATIONS),
        ),
        Part(
            "Tuning",
            "What table S2 calls tuned: trials on the parameters of one design, by the consensus; before "
            "any trial and at the best.",
            ask(TUNING),
        ),
        Part(
            "Reviews of the objectives",
            "What the meta agent's rounds are in section S2.2: how the search is seen, and whose weight "
            "was moved.",
            ask(REVIEWS),
        ),
        Part(
            "What designers learnt",
            "The designers' analyses (section S5.2) of the newest cycle that has any.",
            ask(ANALYSES),
        ),
        Part(
            f"Expected work against measured: {coverage(expected)}",
            "Not in the paper. Each row is the last prediction before the design was run at that size. Of "
            "good 95% intervals 95 in 100 hold. A size that was not solved is outside if its budget is "
            "above the interval, and not decided if it is not.",
            expected,
        ),
        Part(
            "Imported designs",
            "What came of the designs of other searches (evolake designs import).",
            ask(ARRIVED),
        ),
    ]


PACKAGE = "evolake.designs.report"


def designs_section(root: Path, cycle: str) -> Section:
    """Return champion, by how much and with what spread, figures, objectives, funnel, ancestry, the
    champion's file."""
    lake = Lake(root)
    report = read_report(root, cycle)
    material = material_of(lake, report)
    return section(
        PACKAGE,
        LINE,
        report.cycle,
        _headline(report),
        material,
        report=report,
        source=lake.blobs.get(report.champion["source_sha"]).decode(),
        supplement=read_supplement(lake, report, material),
    )


def _headline(report: CycleReport) -> Markup:
    """By how much the champion beats the baseline, with its spread, or that it does not."""
    return sentence(
        PACKAGE, "headline.html.j2", champion=report.champion, since=report.held.since, gain=report.held.gain
    )
