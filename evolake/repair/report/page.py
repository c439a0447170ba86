"""The report as one HTML file: no script, no outside reference, figures inside."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape

from evolake.repair.report.data import StudyReport
from evolake.repair.report.tables import Shown, is_significant
from evolake.repair.report.words import QUESTION, answers, caution, headline, setting

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1080px; margin: 2rem auto; padding: 0 1rem; color: #1c2430; background: #fff }
h1 { font-size: 1.7rem; margin-bottom: .2rem } h2 { margin-top: 2.2rem; border-bottom: 1px solid #d5dbe3; padding-bottom: .2rem; font-size: 1.2rem }
table { border-collapse: collapse; font-size: 13px; margin: .6rem 0; display: block; overflow-x: auto }
th, td { border-bottom: 1px solid #e4e8ee; padding: .25rem .9rem .25rem 0; text-align: left; vertical-align: top; white-space: nowrap }
th { color: #52606f; font-weight: 600; white-space: normal } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums }
tr.significant td { font-weight: 600 } img { max-width: 100%; border: 1px solid #e4e8ee; margin: .5rem 0 }
code { background: #f3f5f8; padding: .1rem .3rem; font-size: 13px } .lead { font-size: 1.05rem } .note { color: #52606f; font-size: 13px }
"""


def render_html(report: StudyReport, tables: Sequence[Shown], figures: Mapping[str, bytes]) -> str:
    """The whole page. `figures`: name -> PNG."""
    parts = [
        "<h1>Solver-grounded repair</h1>", f'<p class="lead">{escape(QUESTION)}</p>', f"<p>{escape(setting(report))}</p>",
        f"<p><b>{escape(caution(report))}</b></p>", f"<p>{escape(headline(report))}</p>",
        "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in answers(report)) + "</ul>",
        *(_picture(name, png) for name, png in figures.items()), *(_table(table) for table in tables),
        f'<p class="note">Study <code>{report.study["study_sha"]}</code>, root seed {report.study["root_seed"]}. Everything here is read from the '
        "lake; the same lake gives the same report.</p>",
    ]
    head = f"<meta charset='utf-8'><title>evolake, repair study</title><style>{STYLE}</style>"
    return f"<!doctype html>\n<html lang='en'>{head}\n" + "\n".join(parts) + "\n</html>\n"


def _picture(name: str, png: bytes) -> str:
    title = escape(name.replace("_", " ").capitalize())
    return f'<h2>{title}</h2><img alt="{title}" src="data:image/png;base64,{base64.b64encode(png).decode()}">'


def _table(table: Shown) -> str:
    def cells(tag: str, row: Sequence[str]) -> str:
        return "".join(f'<{tag}{"" if place < table.texts else " class=n"}>{escape(cell)}</{tag}>' for place, cell in enumerate(row))

    rows = "".join(f"<tr{' class=significant' if is_significant(table, row) else ''}>{cells('td', row)}</tr>" for row in table.rows)
    head = f'<h2 id="{table.name}">{escape(table.title)}</h2>'
    return f'{head}<table><tr>{cells("th", table.columns)}</tr>{rows}</table><p class="note">{escape(table.note)}</p>'
