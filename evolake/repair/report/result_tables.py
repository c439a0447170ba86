"""Findings as tables for a reader: the same cells in HTML and in LaTeX."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from evolake.repair.names import WHOLE_CONFLICT
from evolake.repair.report.material import StudyReport

SIGNIFICANT = 0.05
ADJUSTED = "Holm p"
DEARER = (
    f" A solver call of {WHOLE_CONFLICT} takes more checks than the others': those that make a conflict "
    "minimal, and a second method's."
)


@dataclass(frozen=True)
class Shown:
    """A table to print: a name fit for a label, a title, a note, columns and cells. Those of the first
    `texts` columns are text, the rest numbers."""

    name: str
    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: int = 1


def shown_tables(report: StudyReport) -> list[Shown]:
    """Return all tables of the report, in its order; those without rows are left out."""
    findings = report.findings
    tables = [
        _benchmark(report),
        _accuracy(findings.of("summary")),
        _costs(findings.of("summary")),
        _comparisons(findings.comparisons, "problem"),
        _comparisons(findings.comparisons, "run"),
        _frontier(findings.of("frontier")),
        _convergence(findings.of("convergence")),
        _robustness(findings.robustness),
        _transfer(findings.summary.filter(pl.col("suite") != "lia")),
    ]
    return [table for table in tables if table.rows]


def percent(value: float | None, digits: int = 1) -> str:
    """Return 0.5 as `50.0%`; a dash for nothing."""
    return "-" if value is None else f"{100 * value:.{digits}f}%"


def with_interval(value: float | None, low: float | None, high: float | None, form: Any) -> str:
    """Return `value (low to high)`; a dash for nothing."""
    return "-" if value is None else f"{form(value)} ({form(low)} to {form(high)})"


def number(value: float | None, digits: int = 2) -> str:
    """Return a number with so many decimals; `inf` for infinity."""
    if value is None:
        return "-"
    if math.isinf(value):
        return "inf"
    return f"{value:.{digits}f}"


def points(value: float | None) -> str:
    """Return a difference of shares in percentage points, with its sign."""
    return "-" if value is None else f"{100 * value:+.1f}"


def p_value(value: float) -> str:
    """Return a p-value: four decimals, or that it is smaller."""
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def _share(row: dict[str, Any], method: str) -> str:
    return with_interval(row["rate"], row[f"{method}_low"], row[f"{method}_high"], percent)


def _benchmark(report: StudyReport) -> Shown:
    counted = report.problems.group_by("suite", "variation", maintain_order=True).agg(
        problems=pl.len(),
        sat=(pl.col("label") == "sat").sum(),
        unsat=(pl.col("label") == "unsat").sum(),
        variables=pl.format("{} to {}", pl.col("k").min(), pl.col("k").max()),
        constraints=pl.format("{} to {}", pl.col("m").min(), pl.col("m").max()),
        certified=pl.col("certified_by").first().list.join(", "),
    )
    return Shown(
        "benchmark",
        "Benchmark",
        "Every label is given by two independent methods that agree.",
        ("suite", "variation", "problems", "SAT", "UNSAT", "variables", "constraints", "certified by"),
        tuple(tuple(map(str, row)) for row in counted.iter_rows()),
        2,
    )


def _accuracy(summary: pl.DataFrame) -> Shown:
    rows = [
        (
            row["arm"],
            f"{row['solved']} of {row['runs']}",
            _share(row, "bootstrap"),
            _share(row, "wilson"),
            with_interval(row["sat_rate"], row["sat_low"], row["sat_high"], percent),
            with_interval(row["unsat_rate"], row["unsat_low"], row["unsat_high"], percent),
        )
        for row in summary.to_dicts()
    ]
    return Shown(
        "accuracy",
        "Certified solves by arm",
        "95% intervals. Bootstrap over problems, each with all its seeds; Wilson as if runs were "
        "independent, also for the SAT and UNSAT rates.",
        (
            "arm",
            "solved",
            "verified solve rate (bootstrap)",
            "(Wilson)",
            "SAT certification rate",
            "UNSAT certified rate",
        ),
        tuple(rows),
    )


def _costs(summary: pl.DataFrame) -> Shown:
    rows = [
        (
            row["arm"],
            str(row["calls"]),
            with_interval(
                row["calls_per_solve"], row["calls_per_solve_low"], row["calls_per_solve_high"], number
            ),
            str(row["solver_calls"]),
            with_interval(
                row["solver_calls_per_solve"],
                row["solver_calls_per_solve_low"],
                row["solver_calls_per_solve_high"],
                number,
            ),
            number(row["median_first_certified_call"], 1),
            str(row["budget_exceeded"]),
            str(row["parse_failures"]),
            f"{row['input_tokens']} / {row['output_tokens']}",
            number(1000 * row["latency_mean_s"], 1),
            number(1000 * row["latency_p95_s"], 1),
        )
        for row in summary.to_dicts()
    ]
    return Shown(
        "costs",
        "What a certified solve costs",
        "Sums over all runs, solved or not, per certified solve, with bootstrap intervals over problems. "
        "Latency is a measurement of this host." + (DEARER if WHOLE_CONFLICT in summary["arm"] else ""),
        (
            "arm",
            "calls",
            "calls per solve",
            "solver calls",
            "solver calls per solve",
            "median first certified call",
            "budget exceeded",
            "parse failures",
            "tokens in / out",
            "latency mean ms",
            "latency p95 ms",
        ),
        tuple(rows),
    )


def in_letters(count: int) -> str:
    """Return a small number as a word, a larger one in figures.

    >>> in_letters(6), in_letters(15)
    ('six', '15')
    """
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[count] if count < len(words) else str(count)


def _comparisons(comparisons: pl.DataFrame, unit: str) -> Shown:
    rows = [
        (
            row["first"],
            row["second"],
            str(row["pairs"]),
            f"{row['only_first']} : {row['only_second']}",
            with_interval(row["difference"], row["difference_low"], row["difference_high"], points),
            with_interval(row["odds_ratio"], row["odds_low"], row["odds_high"], number),
            p_value(row["p_value"]),
            p_value(row["p_holm"]),
        )
        for row in comparisons.filter(pl.col("unit") == unit).to_dicts()
    ]
    notes = {
        "problem": (
            "Unit: a problem, solved if more than half of its seeds solved it (of an even number of "
            "seeds, exactly half is not solved). The pairs are independent; claims rest on this table."
        ),
        "run": (
            "Unit: a run (problem and seed), as the paper counts. Seeds of one problem are not "
            "independent, so these p-values are optimistic."
        ),
    }
    return Shown(
        f"comparisons_{unit}",
        f"Compute-matched arms, paired by {unit}",
        f"{notes[unit]} McNemar's exact test, Holm's correction over the {in_letters(len(rows))} "
        "comparisons, odds ratio of discordant pairs "
        "with its exact interval, difference of shares in percentage points with its paired bootstrap "
        "interval.",
        (
            "first",
            "second",
            "pairs",
            "only first : only second",
            "difference",
            "odds ratio",
            "McNemar p",
            ADJUSTED,
        ),
        tuple(rows),
        2,
    )


def _frontier(frontier: pl.DataFrame) -> Shown:
    rows = [
        (
            row["arm"],
            number(row["mean_calls"]),
            number(row["mean_solver_calls"]),
            percent(row["rate"]),
            "yes" if row["on_frontier"] else "no",
            _names(row["dominated_by"]),
        )
        for row in frontier.to_dicts()
    ]
    return Shown(
        "frontier",
        "Efficiency frontier",
        "An arm is dominated by one that solves at least as much with at most as many solver calls.",
        (
            "arm",
            "mean calls per run",
            "mean solver calls per run",
            "verified solve rate",
            "on the frontier",
            "dominated by",
        ),
        tuple(rows),
    )


def _names(arms: Sequence[str]) -> str:
    """Up to four arms by name; of more the first three, and how many more. The table's file has them all."""
    return ", ".join(arms if len(arms) <= 4 else (*arms[:3], f"{len(arms) - 3} more")) or "-"


def _convergence(convergence: pl.DataFrame) -> Shown:
    rounds = convergence["round"].unique().sort().to_list()
    arms: dict[str, list[str]] = {}
    for row in convergence.sort("round", maintain_order=True).to_dicts():
        arms.setdefault(row["arm"], []).append(_share(row, "bootstrap"))
    order = convergence["arm"].unique(maintain_order=True).to_list()
    return Shown(
        "convergence",
        "Share of runs solved by the end of each round",
        "Bootstrap intervals over problems. one_shot has a single call.",
        ("arm", *(f"round {place}" for place in rounds)),
        tuple((arm, *arms[arm]) for arm in order),
    )


def _robustness(robustness: pl.DataFrame) -> Shown:
    rows = [
        (
            row["variation"],
            row["arm"],
            str(row["pairs"]),
            percent(row["rate_before"]),
            percent(row["rate_after"]),
            f"{row['gained']} / {row['lost']}",
            with_interval(row["delta"], row["delta_low"], row["delta_high"], points),
        )
        for row in robustness.to_dicts()
    ]
    return Shown(
        "robustness",
        "Robustness under superficial re-encodings",
        "Each perturbed run is paired with the run of its origin. The proposer draws again, so some runs "
        "flip without cause; the interval of the paired bootstrap over problems covers that.",
        ("variation", "arm", "pairs", "before", "after", "gained / lost", "change in percentage points"),
        tuple(rows),
        2,
    )


def _transfer(summary: pl.DataFrame) -> Shown:
    rows = [
        (
            row["suite"],
            row["arm"],
            f"{row['solved']} of {row['runs']}",
            _share(row, "wilson"),
            percent(row["sat_rate"]),
            percent(row["unsat_rate"]),
            number(row["calls_per_solve"]),
        )
        for row in summary.to_dicts()
    ]
    return Shown(
        "transfer",
        "Transfer to Sudoku 4x4",
        "Descriptive only: no test, and no claim rests on it.",
        ("suite", "arm", "solved", "verified solve rate (Wilson)", "SAT", "UNSAT", "calls per solve"),
        tuple(rows),
        2,
    )


def is_significant(table: Shown, row: Sequence[str]) -> bool:
    """Return whether the row's adjusted p-value, where the table has one, is below the level."""
    if ADJUSTED not in table.columns:
        return False
    shown = row[table.columns.index(ADJUSTED)]
    return shown.startswith("<") or float(shown) < SIGNIFICANT
