"""The report of the study as files: report.html, figures, tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from evolake.file_names import file_name
from evolake.report.figures import draw_figures
from evolake.report.pages import render
from evolake.utility.findings import Findings
from evolake.utility.report.artifacts import QUESTION, answer, caution, headline, setting, shows
from evolake.utility.running import Stored
from evolake.utility.tables import ARMS, MATCHINGS

FIGURES = "evolake.utility.report.figures"


def write_report(stored: Stored, result: Findings, out: Path) -> list[Path]:
    """Write all files below `out`; gives their paths. The same lake gives the same tables and page."""
    figures = draw_figures(FIGURES, result)
    (out / "figures").mkdir(parents=True, exist_ok=True)
    written = [out / "report.html"]
    written[0].write_text(study_page(stored, result, figures), encoding="utf-8")
    for title, png in figures.items():
        written.append(out / "figures" / file_name(title, ".png"))
        written[-1].write_bytes(png)
    tables = {
        "summary": result.summary,
        "comparisons": result.comparisons,
        "curves": result.curves,
        "steps": stored.steps,
        "replies": stored.replies,
        "problems": stored.problems,
    }
    for name, frame in tables.items():
        written.append(out / f"{name}.parquet")
        frame.write_parquet(written[-1])
    return written


def study_page(stored: Stored, result: Findings, figures: Mapping[str, bytes]) -> str:
    """Return the whole page. figures: title -> PNG."""
    return render(
        "evolake.utility.report",
        "study.html.j2",
        study=stored.study,
        question=QUESTION,
        setting=setting(stored),
        caution=caution(stored, result),
        headline=headline(result),
        answers=[answer(result, matching) for matching in MATCHINGS],
        missing=stored.missing,
        arms=ARMS,
        figures=figures,
        tables=[
            (matching, suite, arms_table(result, matching, suite), differences_table(result, matching, suite))
            for matching in MATCHINGS
            for suite in result.summary["suite"].unique(maintain_order=True)
        ],
    )


def arms_table(result: Findings, matching: str, suite: str) -> pl.DataFrame:
    """Return one row per arm."""
    return pl.DataFrame(
        [
            {
                "arm": row["arm"],
                "seeds": row["seeds"],
                "step": round(row["step"], 1),
                "training_problems_seen": round(row["instances"]),
                "reply_tokens_trained_on": round(row["tokens"]),
                "correct": f"{row['correct']:.1%} ({row['low']:.1%} to {row['high']:.1%})",
                "in_form": f"{row['formatted']:.1%}",
                "tokens": round(row["length"], 1),
                "self_checking_words": round(row["reflections"], 2),
            }
            for row in _of(result.summary, matching, suite)
        ]
    )


def differences_table(result: Findings, matching: str, suite: str) -> pl.DataFrame:
    """Return one row per comparison."""
    return pl.DataFrame(
        [
            {
                "arm": row["first"],
                "against": row["second"],
                "difference": f"{100 * row['difference']:+.1f} points",
                "interval_95": f"{100 * row['low']:+.1f} to {100 * row['high']:+.1f}",
                "p": f"{row['p_value']:.2g}",
                "p_holm": f"{row['p_holm']:.2g}",
                "shown": "yes" if shows(row) else "no",
            }
            for row in _of(result.comparisons, matching, suite)
        ]
    )


def _of(frame: pl.DataFrame, matching: str, suite: str) -> list[dict[str, Any]]:
    return frame.filter((pl.col("matching") == matching) & (pl.col("suite") == suite)).to_dicts()
