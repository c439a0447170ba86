"""The report as one HTML file: no script, no outside reference, figures inside."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1040px; margin: 2rem auto; padding: 0 1rem; color: #1c2430; background: #fff; }
h1 { font-size: 1.7rem; margin-bottom: .2rem } h2 { margin-top: 2.2rem; border-bottom: 1px solid #d5dbe3; padding-bottom: .2rem; font-size: 1.2rem }
table { border-collapse: collapse; font-size: 13px; margin: .6rem 0; display: block; overflow-x: auto }
th, td { border-bottom: 1px solid #e4e8ee; padding: .25rem .7rem .25rem 0; text-align: left; vertical-align: top }
th { color: #52606f; font-weight: 600 } td.n { text-align: right; font-variant-numeric: tabular-nums }
img { max-width: 100%; border: 1px solid #e4e8ee; margin: .5rem 0 } code, pre { background: #f3f5f8; padding: .1rem .3rem; font-size: 13px }
pre { padding: .8rem; overflow-x: auto } .lead { font-size: 1.05rem } .note { color: #52606f }
"""


@dataclass(frozen=True)
class Section:
    """What a page says of one line. headline: one sentence, HTML. parts: HTML, figures inside. figures: title -> PNG, in the order of the page."""

    line: str
    cycle: str
    headline: str
    parts: Sequence[str]
    figures: Mapping[str, bytes]


def page(sections: Sequence[Section]) -> str:
    """The whole page, a line after the other; of several lines each is linked at the top."""
    stands = ", ".join(f"{one.line} cycle {one.cycle}" for one in sections)
    title = f"evolake, cycle {sections[0].cycle}" if len(sections) == 1 else f"evolake, {stands}"
    parts = [part for one in sections for part in (one.parts if len(sections) == 1 else _wrapped(one))]
    if len(sections) > 1:
        links = ", ".join(f'<a href="#{esc(one.line)}">{esc(one.line)}</a> cycle {one.cycle}' for one in sections)
        parts.insert(0, f'<p class="note">Lines on this page: {links}</p>')
    parts.append('<p class="note">Everything here is read from the lake; <code>evolake sql --list</code> shows the tables behind it.</p>')
    head = f"<meta charset='utf-8'><title>{esc(title)}</title><style>{STYLE}</style>"
    return f"<!doctype html>\n<html lang='en'>{head}\n" + "\n".join(parts) + "\n</html>\n"


def _wrapped(one: Section) -> list[str]:
    return [f'<section id="{esc(one.line)}">', *one.parts, "</section>"]


def picture(title: str, png: bytes) -> str:
    """A heading and a figure, its bytes inside."""
    return f'<h2>{esc(title)}</h2><img alt="{esc(title)}" src="data:image/png;base64,{base64.b64encode(png).decode()}">'


def section(title: str, frame: pl.DataFrame, right: Collection[str] = ()) -> str:
    """A heading and a table, or the word that it is empty."""
    return f"<h2>{esc(title)}</h2>" + (table(frame, right) if frame.height else '<p class="note">none</p>')


def table(frame: pl.DataFrame, right: Collection[str] = ()) -> str:
    """A frame as an HTML table; ids are cut at 12 digits, long text at 300 characters. right: text columns that hold figures."""
    head = "".join(f"<th>{esc(name.replace('_', ' '))}</th>" for name in frame.columns)
    aligned = [name in right for name in frame.columns]
    rows = "".join("<tr>" + "".join(map(cell, row, aligned)) + "</tr>" for row in frame.iter_rows())
    return f"<table><tr>{head}</tr>{rows}</table>"


def cell(value: Any, right: bool = False) -> str:
    """One cell; numbers, and text that holds figures, right-aligned."""
    if isinstance(value, bool) or value is None:
        return f"<td>{'yes' if value else 'no' if value is not None else ''}</td>"
    if isinstance(value, int | float):
        return f'<td class="n">{value:,}</td>' if isinstance(value, int) and value < 10**9 else f'<td class="n">{value}</td>'
    text = str(value)
    if len(text) == 64 and all(digit in "0123456789abcdef" for digit in text):
        return f'<td><code title="{text}">{text[:12]}</code></td>'
    return f'<td class="n">{esc(text[:300])}</td>' if right else f"<td>{esc(text[:300])}</td>"


def esc(text: str) -> str:
    """Text made safe for HTML: titles and reasons may come from a model."""
    return html.escape(str(text))


def plain(markup: str) -> str:
    """A sentence of a section without its tags, for a terminal."""
    return html.unescape(re.sub(r"<[^>]*>", "", markup))
