"""The report as one HTML file: no script, no outside reference, figures inside."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping
from typing import Any

import polars as pl

from evolake.report.designs import CycleReport

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1040px; margin: 2rem auto; padding: 0 1rem; color: #1c2430; background: #fff; }
h1 { font-size: 1.7rem; margin-bottom: .2rem } h2 { margin-top: 2.2rem; border-bottom: 1px solid #d5dbe3; padding-bottom: .2rem; font-size: 1.2rem }
table { border-collapse: collapse; font-size: 13px; margin: .6rem 0; display: block; overflow-x: auto }
th, td { border-bottom: 1px solid #e4e8ee; padding: .25rem .7rem .25rem 0; text-align: left; vertical-align: top }
th { color: #52606f; font-weight: 600 } td.n { text-align: right; font-variant-numeric: tabular-nums }
img { max-width: 100%; border: 1px solid #e4e8ee; margin: .5rem 0 } code, pre { background: #f3f5f8; padding: .1rem .3rem; font-size: 13px }
pre { padding: .8rem; overflow-x: auto } .lead { font-size: 1.05rem } .note { color: #52606f }
"""


def render(report: CycleReport, figures: Mapping[str, bytes], champion_source: str) -> str:
    """The whole page. `figures`: title -> PNG."""
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
        f"<h2>The champion's file</h2><pre>{esc(champion_source)}</pre>",
        '<p class="note">Everything here is read from the lake; <code>evolake sql --list</code> shows the tables behind it.</p>',
    ]
    head = f"<meta charset='utf-8'><title>evolake, cycle {report.cycle}</title><style>{STYLE}</style>"
    return f"<!doctype html>\n<html lang='en'>{head}\n" + "\n".join(parts) + "\n</html>\n"


def picture(title: str, png: bytes) -> str:
    """A heading and a figure, its bytes inside."""
    return f'<h2>{esc(title)}</h2><img alt="{esc(title)}" src="data:image/png;base64,{base64.b64encode(png).decode()}">'


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


def section(title: str, frame: pl.DataFrame) -> str:
    """A heading and a table, or the word that it is empty."""
    return f"<h2>{esc(title)}</h2>" + (table(frame) if frame.height else '<p class="note">none</p>')


def table(frame: pl.DataFrame) -> str:
    """A frame as an HTML table; ids are cut at 12 digits, long text at 300 characters."""
    head = "".join(f"<th>{esc(name.replace('_', ' '))}</th>" for name in frame.columns)
    rows = "".join("<tr>" + "".join(cell(value) for value in row) + "</tr>" for row in frame.iter_rows())
    return f"<table><tr>{head}</tr>{rows}</table>"


def cell(value: Any) -> str:
    """One cell; numbers right-aligned."""
    if isinstance(value, bool) or value is None:
        return f"<td>{'yes' if value else 'no' if value is not None else ''}</td>"
    if isinstance(value, int | float):
        return f'<td class="n">{value:,}</td>' if isinstance(value, int) and value < 10**9 else f'<td class="n">{value}</td>'
    text = str(value)
    if len(text) == 64 and all(digit in "0123456789abcdef" for digit in text):
        return f'<td><code title="{text}">{text[:12]}</code></td>'
    return f"<td>{esc(text[:300])}</td>"


def esc(text: str) -> str:
    """Text made safe for HTML: titles and reasons may come from a model."""
    return html.escape(str(text))
