"""Report on this search what the supplement of the paper reports on its own (figures S1 to S3, tables S1 to
S7), from the lake's tables.

Each part names what it corresponds to there. Nothing here decides anything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from evolake.designs.report import supplement_champion as champion
from evolake.designs.report import supplement_objectives as objectives
from evolake.designs.report import supplement_record as record
from evolake.designs.report.data import LINE, CycleReport
from evolake.designs.report.material import Material
from evolake.designs.tables import TABLES
from evolake.lake import Catalogue, Lake


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
            *_of_objectives(report, material, ask(objectives.WEIGHTS)),
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
            objectives.weights_by_cycle(weights),
        ),
        Part(
            "How far the objectives agree, as they came",
            "Like table S5: Kendall's tau of every pair among the objectives that vote now and were there "
            "by then.",
            objectives.agreement(material),
        ),
        Part(
            "Objectives against the consensus, by kind",
            "Like table S6: Kendall's tau of each with the consensus, and where the consensus places what "
            "each has first (as in section S2.4).",
            objectives.with_consensus(material),
        ),
        Part(
            "All objectives",
            "Like table S7: where each comes from, what it looks at, and what it weighs now.",
            objectives.complete(report.population, report.cycle, weights),
        ),
    ]


def _of_the_record(ask: Callable[[str], pl.DataFrame]) -> list[Part]:
    expected = ask(record.EXPECTED)
    return [
        Part(
            "What each term of the champion does",
            "Not in the paper. Each term was left out by itself when the design became champion; its work "
            "then, on formulas of both kinds, over its work with the term. Empty for a design without a "
            "genome, and where EVOLAKE_DESIGNS__ABLATION_N is 0.",
            ask(record.ABLATIONS),
        ),
        Part(
            "Tuning",
            "What table S2 calls tuned: trials on the parameters of one design, by the consensus; before "
            "any trial and at the best.",
            ask(record.TUNING),
        ),
        Part(
            "Reviews of the objectives",
            "What the meta agent's rounds are in section S2.2: how the search is seen, and whose weight "
            "was moved.",
            ask(record.REVIEWS),
        ),
        Part(
            "What designers learnt",
            "The designers' analyses (section S5.2) of the newest cycle that has any.",
            ask(record.ANALYSES),
        ),
        Part(
            f"Expected work against measured: {record.coverage(expected)}",
            "Not in the paper. Each row is the last prediction before the design was run at that size. Of "
            "good 95% intervals 95 in 100 hold. A size that was not solved is outside if its budget is "
            "above the interval, and not decided if it is not.",
            expected,
        ),
        Part(
            "Imported designs",
            "What came of the designs of other searches (evolake designs import).",
            ask(record.ARRIVED),
        ),
    ]
