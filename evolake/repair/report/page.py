"""The report as one HTML file: no script, no outside reference, figures inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evolake.repair.report.data import StudyReport
from evolake.repair.report.narrative import QUESTION, answers, caution, headline, setting
from evolake.repair.report.tables import Shown, is_significant
from evolake.report.pages import render


def render_html(report: StudyReport, tables: Sequence[Shown], figures: Mapping[str, bytes]) -> str:
    """Return the whole page. `figures`: name -> PNG."""
    return render(
        "evolake.repair.report",
        "study.html.j2",
        study=report.study,
        question=QUESTION,
        setting=setting(report),
        caution=caution(report),
        headline=headline(report),
        answers=answers(report),
        tables=tables,
        is_significant=is_significant,
        figures={name.replace("_", " ").capitalize(): png for name, png in figures.items()},
    )
