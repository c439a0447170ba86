"""The designs line's part of the page."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from evolake.designs.report.data import LINE, CycleReport, read_report
from evolake.designs.report.material import material_of
from evolake.designs.report.supplement import read_supplement
from evolake.lake import Lake
from evolake.report.pages import Section, section, sentence

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
