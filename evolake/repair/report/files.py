"""The report of the study, rebuilt from the lake alone: report.html, report.tex, figures/*.png, tables/*.csv
and tables/*.parquet.

The same lake gives the same bytes. Files of an earlier report that this one does not have any more are not
removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from evolake.file_names import file_name
from evolake.repair.report.data import StudyReport
from evolake.repair.report.latex import render_latex
from evolake.repair.report.material import study_figures
from evolake.repair.report.page import render_html
from evolake.repair.report.tables import shown_tables


def write_report(report: StudyReport, out: Path) -> list[Path]:
    """Write all files below `out`; gives their paths."""
    figures, tables = study_figures(report.findings), shown_tables(report)
    texts = {
        "report.html": render_html(report, tables, figures),
        "report.tex": render_latex(report, tables, figures),
    }
    for folder in (out, out / "figures", out / "tables"):
        folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (out / name).write_text(text, encoding="utf-8")
    pictures = {out / "figures" / file_name(name, ".png"): png for name, png in figures.items()}
    for path, png in pictures.items():
        path.write_bytes(png)
    written = [*(out / name for name in texts), *pictures]
    return written + _write_tables(
        report.findings.tables() | {"results": report.results, "problems": report.problems}, out / "tables"
    )


def _write_tables(tables: Mapping[str, pl.DataFrame], folder: Path) -> list[Path]:
    written = []
    for name, frame in tables.items():
        parquet, csv = folder / file_name(name, ".parquet"), folder / file_name(name, ".csv")
        frame.write_parquet(parquet)
        lists = [
            pl.col(column).list.join(" ")
            for column, kind in frame.schema.items()
            if isinstance(kind, pl.List)
        ]
        frame.with_columns(lists).write_csv(csv)
        written += [parquet, csv]
    return written
