"""The comparison of two suites as a page of Markdown."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from evolake.report.numbers import counted
from evolake.solvers.measurement.transfer import LEVEL, TRUTHS, claim

PAGE = "transfer.md"
HEADS = (
    "solver",
    "solved",
    "SAT",
    "UNSAT",
    "PAR-2, s",
    "PAR-2 SAT",
    "PAR-2 UNSAT",
    "memory mean/max, MiB",
    "share of VBS",
    "UNSAT checked",
    "UNSAT proved",
)
TITLES = {"from": "Bred on", "to": "Carried over to"}


def write_page(table: pl.DataFrame, folder: Path) -> Path:
    """Write transfer.md next to the tables. table: rows of TRANSFER."""
    beside = folder / f".{PAGE}-{os.getpid()}"
    beside.write_text(page(table), encoding="utf-8")
    beside.replace(folder / PAGE)
    return folder / PAGE


def page(table: pl.DataFrame) -> str:
    """Return one table of figures and one sentence per other solver for each suite."""
    first = table.row(0, named=True)
    lines = [
        f"# {first['solver']} against {counted(table['variant_id'].n_unique() - 1, 'other solver')}",
        "",
        f"In parentheses: {LEVEL:.0%} intervals over formulas: of gains by the contest that duels use, of "
        "the others by a bootstrap.",
        "A formula is solved where its model was checked or its proof verified; an UNSAT answer whose "
        "proof was not checked counts as unsolved.",
    ]
    for suite in table["suite"].unique(maintain_order=True):
        rows = table.filter(pl.col("suite") == suite).to_dicts()
        lines += [
            "",
            f"## {TITLES[rows[0]['part']]} {suite}: {rows[0]['instances']} formulas, "
            f"{rows[0]['timeout_s']:g} s of cpu time",
            "",
        ]
        lines += [
            _row(HEADS),
            _row("---" if place == 0 else "---:" for place in range(len(HEADS))),
            *(_row(_cells(row)) for row in rows),
            "",
        ]
        lines += [f"- {_sentence(first['solver'], row)}" for row in rows if row["gain"] is not None]
    return "\n".join(lines) + "\n"


def _row(cells: Any) -> str:
    return f"| {' | '.join(str(cell).replace('|', '/') for cell in cells)} |"


def _cells(row: Mapping[str, Any]) -> list[str]:
    return [
        f"{row['solver']} ({row['role']}, {row['variant_id'][:8]})",
        *(_with_ends(row, name, name, "{:g}") for name in TRUTHS),
        _with_ends(row, "par2", "par2", "{:.3g}"),
        _or_dash(row["par2_sat"], "{:.3g}"),
        _or_dash(row["par2_unsat"], "{:.3g}"),
        f"{row['memory_mean_mb']:.0f}/{row['memory_max_mb']:.0f}",
        _with_ends(row, "vbs_share", "vbs", "{:.0%}"),
        _or_dash(row["checked_share"], "{:.0%}"),
        _or_dash(row["proof_share"], "{:.0%}"),
    ]


def _with_ends(row: Mapping[str, Any], name: str, ends: str, form: str) -> str:
    value, low, high = row[name], row[f"{ends}_low"], row[f"{ends}_high"]
    if value is None:
        return "-"
    return (
        form.format(value)
        if low is None
        else f"{form.format(value)} ({form.format(low)} to {form.format(high)})"
    )


def _or_dash(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)


def _sentence(first: str, row: Mapping[str, Any]) -> str:
    floor = f", noise floor {row['noise_floor']:.4g}" if row["noise_floor"] else ""
    said = claim(row)
    said = said if said.startswith("no ") else f"{first} is {said}"
    return (
        f"PAR-2 of {row['solver']} over that of {first}: "
        f"{_with_ends(row, 'gain', 'gain', '{:.3g}')}{floor}: {said}."
    )
