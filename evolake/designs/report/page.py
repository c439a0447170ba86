"""The designs line's part of the page."""

from __future__ import annotations

from pathlib import Path

from evolake.designs.report.data import LINE, CycleReport, read_report
from evolake.designs.report.figures import report_figures
from evolake.lake import Lake
from evolake.report.html import Section, esc, picture, section


def designs_section(root: Path, cycle: str) -> Section:
    """Champion, by how much and with what spread, figures, objectives, funnel, ancestry, the champion's file."""
    lake = Lake(root)
    report = read_report(root, cycle)
    figures = report_figures(lake, report)
    source = lake.blobs.get(report.champion["source_sha"]).decode()
    parts = [
        f"<h1>Cycle {report.cycle} of the designs line</h1>",
        f'<p class="note">profile {esc(report.profile)}, backend {esc(report.backend)}, {report.population.designs.height} designs so far, '
        f"{report.objectives.height} objectives that vote</p>",
        f'<p class="lead">{verdict_sentence(report)}</p>',
        *(f"<p>{esc(row['comparison'].capitalize())}: {esc(row['reason'])}</p>" for row in report.decisions.to_dicts()),
        section("Runs that decided", report.trials.select("part", "design_id", "N", "batch", "seed", "median_step", "unsolved_fraction", "solved")),
        section("Best designs by consensus", report.top),
        *(picture(title, png) for title, png in figures.items()),
        section("Objectives and their weight", report.objectives),
        section("Candidates a cycle", report.funnel),
        section("What was blocked, and by which rule", report.blocked),
        section("What each operator gave", report.yields),
        section("Ancestry of the champion", report.ancestry),
        f"<h2>The champion's file</h2><pre>{esc(source)}</pre>",
    ]
    return Section(LINE, report.cycle, verdict_sentence(report), parts, figures)


def verdict_sentence(report: CycleReport) -> str:
    """By how much the champion beats the baseline, with its spread, or that it does not."""
    name = f"<b>{esc(report.champion['title'])}</b> (<code>{report.champion['design_id'][:12]}</code>)"
    against = [row for row in report.decisions.to_dicts() if row["comparison"] == "baseline"]
    if not against:
        return f"The champion is {name}: the baseline itself. No design beat it by more than the noise."
    row = against[0]
    interval = f"95% interval {row['ratio_low']:.2f} to {row['ratio_high']:.2f}, {row['pairs']} fresh seeds of {row['batch']} instances each"
    spread = f"{row['ratio']:.2f} times fewer median steps than the baseline at N={row['N']} ({interval})"
    if row["wins"]:
        return f"The champion is {name}: {spread}."
    return f"The champion is {name}, but against the baseline the gain is inside the spread: {spread}."
