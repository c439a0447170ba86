"""The solvers line's part of the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from evolake.lake import Lake
from evolake.report.pages import Section, section
from evolake.solvers.report.data import LINE, SolversReport, read_report
from evolake.solvers.report.holdout import compare_holdout, holdout_metrics, holdout_sentence
from evolake.solvers.report.material import Material
from evolake.solvers.report.narrative import (
    PACKAGE,
    change_words,
    duel_sentences,
    soundness_sentence,
    verdict_sentence,
)
from evolake.solvers.tables import CUT_OFF_SHARES

DIFF_LINES = 400
CYCLES_SHOWN = 8
PROPOSALS_SHOWN = 40
MEASURES: dict[str, tuple[str, str]] = {
    "instances": ("formulas", "{:g}"),
    "solved": ("solved", "{:g}"),
    "solved_sat": ("solved, SAT", "{:g}"),
    "solved_unsat": ("solved, UNSAT", "{:g}"),
    "par2": ("PAR-2, s", "{:.3f}"),
    "par2_sat": ("PAR-2 SAT, s", "{:.3f}"),
    "par2_unsat": ("PAR-2 UNSAT, s", "{:.3f}"),
    **{
        f"solved_within_{share}": (f"solved within {share} % of the timeout", "{:g}")
        for share in CUT_OFF_SHARES
    },
    "additionally_solved": ("solved by no (other) seed", "{:g}"),
    "vbs_match": ("formulas answered as the virtual best solver does", "{:g}"),
    "vbs_mismatch": ("formulas answered otherwise", "{:g}"),
    "wrong": ("wrong answers", "{:g}"),
    "unproved": ("checked proofs that failed", "{:g}"),
    "failed": ("crashes, malformed outputs, memory-outs", "{:g}"),
    "memory_mean_mb": ("mean memory, MB", "{:.1f}"),
    "memory_max_mb": ("largest memory, MB", "{:.1f}"),
    "fastest": ("formulas that none of all measured solved sooner", "{:g}"),
    "checked_share": ("share of UNSAT answers whose proof was checked", "{:.0%}"),
    "proof_share": ("share of these UNSAT answers with a verified proof", "{:.0%}"),
}
"""Column of METRICS -> its name on the page and how a value is written, in the order of SATLUTION's Table
3."""


def solvers_section(root: Path, cycle: str) -> Section:
    """Return champion and decision, soundness, metrics on train and holdout, what changed, figures, gates,
    rules, ancestry."""
    report = read_report(root, cycle)
    compared = compare_holdout(
        report.population.holdout, report.champion["variant_id"], report.base["variant_id"], cycle
    )
    return section(
        PACKAGE,
        LINE,
        cycle,
        verdict_sentence(report),
        Material(Lake(root), cycle, report.population),
        report=report,
        soundness=soundness_sentence(report.runs),
        holdout=holdout_sentence(compared, report.champion, report.base),
        duels=duel_sentences(report),
        change=_change(report),
        suites=[
            _measures("Suite train", report.metrics, report, seeds=True),
            _measures("Suite holdout", _holdout(report), report, seeds=False),
        ],
        proposals=report.proposals.head(PROPOSALS_SHOWN),
        active=report.proposals.filter(pl.col("state") == "active").height,
        rule_metrics=_rule_metrics(report),
    )


def _change(report: SolversReport) -> dict[str, Any] | None:
    """Return what the champion changes, in words and as a diff; None for a seed."""
    if report.champion["operator"] == "seed":
        return None
    assert report.parent is not None, "a variant that is no seed has a parent"
    lines = report.diff.splitlines()
    return {
        "words": change_words(report),
        "diff": "\n".join(lines[:DIFF_LINES]),
        "cut": max(len(lines) - DIFF_LINES, 0),
    }


def _holdout(report: SolversReport) -> pl.DataFrame:
    return holdout_metrics(
        report.population.holdout,
        report.champion["variant_id"],
        [row["variant_id"] for row in report.population.seeds()],
    )


def _measures(title: str, metrics: pl.DataFrame, report: SolversReport, *, seeds: bool) -> dict[str, Any]:
    """Measures down, variants across: the champion, its seed, then the other seeds (`seeds`) or all others
    that were measured."""
    others = (
        [row["variant_id"] for row in report.population.seeds()]
        if seeds
        else sorted(metrics["variant_id"].to_list())
    )
    order = dict.fromkeys([report.champion["variant_id"], report.base["variant_id"], *others])
    measured = {row["variant_id"]: row for row in metrics.to_dicts()}
    shown = [name for name in order if name in measured]
    heads = {name: _head(report, name) for name in shown}
    columns: dict[str, Sequence[str]] = {"measure": [said for said, _ in MEASURES.values()]}
    columns |= {
        heads[name]: [_written(measured[name].get(column), form) for column, (_, form) in MEASURES.items()]
        for name in shown
    }
    return {
        "title": title,
        "first": measured[shown[0]] if shown else None,
        "frame": pl.DataFrame(columns),
        "heads": set(heads.values()),
        "proofs": _checked([measured[name] for name in shown]),
    }


def _checked(rows: Sequence[dict[str, Any]]) -> str:
    """Return what share of the proofs was checked."""
    shares = [share for row in rows if (share := row.get("checked_share")) is not None]
    if not shares:
        return "No UNSAT answer's proof was recorded as checked." if rows else ""
    least = (
        "Every proof was" if min(shares) == 1 else f"At least {min(shares):.0%} of each variant's proofs were"
    )
    return f"{least} checked; an UNSAT answer without a verified proof counts as unsolved."


def _head(report: SolversReport, variant_id: str) -> str:
    row = report.population.row(variant_id)
    is_champion, is_base = (
        variant_id == report.champion["variant_id"],
        variant_id == report.base["variant_id"],
    )
    if is_champion:
        role = "champion"
    elif is_base:
        role = "its seed"
    elif row["operator"] == "seed":
        role = "seed"
    else:
        role = "before"
    name = row["title"] if row["operator"] == "seed" else f"{row['title']} {variant_id[:6]}"
    return f"{role}: {name}"


def _written(value: Any, form: str) -> str:
    return "" if value is None else form.format(value)


def _rule_metrics(report: SolversReport) -> pl.DataFrame:
    """Return the five measures by cycle."""
    cycles = sorted(set(report.rule_metrics["cycle"].to_list()))[-CYCLES_SHOWN:]
    values = {(row["metric"], row["cycle"]): row["value"] for row in report.rule_metrics.to_dicts()}
    names = ("prevention", "compliance", "coverage", "kill_rate", "time_to_fix")
    columns = {"measure": [name.replace("_", " ") for name in names]}
    columns |= {
        each: [
            _written(values.get((name, each)), "{:.2f}" if name == "time_to_fix" else "{:.0%}")
            for name in names
        ]
        for each in cycles
    }
    return pl.DataFrame(columns)
