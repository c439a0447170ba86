"""The gallery: one HTML page a family, with a statement, its label, the rules that may change, and every program that votes; and an index.

Pages are made from the families alone, so they show what runs. Nothing is loaded from elsewhere, and all text is escaped: a family may be a model's.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.families.model.contract import Family
from evolake.families.model.statement import stated

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 980px; margin: 2rem auto; padding: 0 1rem; color: #1c2430; background: #fff }
h1 { font-size: 1.6rem; margin-bottom: .2rem } h2 { margin-top: 2rem; border-bottom: 1px solid #d5dbe3; font-size: 1.15rem }
pre { background: #f3f5f8; padding: .8rem; overflow-x: auto; font-size: 13px } pre.text { white-space: pre-wrap; font: inherit }
table { border-collapse: collapse; font-size: 14px } th, td { text-align: left; vertical-align: top; padding: .25rem 1rem .25rem 0 }
td { border-top: 1px solid #e4e8ee } .note { color: #52606f } .chosen { font-weight: 600 }
"""


@dataclass(frozen=True)
class Example:
    """An instance of a family: difficulty, statement, label; how many voters gave the label."""

    difficulty: int
    text: str
    label: Any
    votes: int
    voters: int


def write_gallery(families: Sequence[Family], examples: Mapping[str, Sequence[Example]], folder: Path) -> list[Path]:
    """index.html and a page a family below `folder`. examples: by family_id. Gives the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / "index.html"]
    written[0].write_text(index_page(families), encoding="utf-8")
    for family in families:
        written.append(folder / file_name(family))
        written[-1].write_text(family_page(family, examples.get(family.family_id, ())), encoding="utf-8")
    return written


def file_name(family: Family) -> str:
    """The page's file: the name for people, its letters, digits and dashes alone (a model may have given it), and enough of the id to tell two of
    one name apart.
    """
    return f"{re.sub(r'[^a-zA-Z0-9]+', '-', family.name).strip('-')[:80] or 'family'}-{family.family_id[:8]}.html"


def index_page(families: Sequence[Family]) -> str:
    """All families, by category."""
    rows = "".join(
        f'<tr><td>{esc(one.category)}</td><td><a href="{esc(file_name(one))}">{esc(one.title)}</a></td><td>{esc(one.language)}</td>'
        f"<td>{esc(one.operator)}</td><td>{esc(one.answer.type)}</td><td>{len(one.voters())}</td><td>{len(one.points)}</td><td>{len(one.ports)}</td>"
        f"<td>{len(one.filterables)}</td></tr>"
        for one in sorted(families, key=lambda one: (one.category, one.title, one.family_id))
    )
    heads = ("category", "family", "language", "operator", "answer", "voters", "rules", "ports", "lists")
    head = "".join(f"<th>{name}</th>" for name in heads)
    return page("Task families", f"<h1>{len(families)} task families</h1><table><tr>{head}</tr>{rows}</table>")


def family_page(family: Family, examples: Sequence[Example]) -> str:
    """One family."""
    facts = f"{family.category}, {family.language}, {family.operator}, answer: {family.answer.type}; family {family.family_id}"
    parts = [f'<p><a href="index.html">all families</a></p><h1>{esc(family.title)}</h1><p class="note">{esc(facts)}</p>']
    if family.parents:
        parts.append(f'<p class="note">made of {esc(", ".join(one[:12] for one in family.parents))}</p>')
    for one in examples:
        label = one.label if isinstance(one.label, str) else json.dumps(one.label, ensure_ascii=False)
        parts.append(f"<h2>An instance, difficulty {one.difficulty}</h2><pre class='text'>{esc(one.text)}</pre>")
        parts.append(f"<p>Label: <b>{esc(label)}</b>, given by {one.votes} of {one.voters} voters.</p>")
    parts += [f"<h2>Template, rules in force</h2><pre class='text'>{esc(stated(family))}</pre>", *_points(family), *_openings(family)]
    parts += [f"<h2>{esc(name)}</h2><pre>{esc(source)}</pre>" for name, source in family.sources().items()]
    return page(family.title, "\n".join(parts))


def _points(family: Family) -> list[str]:
    """Mutation points: each rule with its alternatives as text and code."""
    if not family.points:
        return ["<h2>Mutation points</h2><p class='note'>none declared</p>"]
    parts = ["<h2>Mutation points</h2>"]
    for point in family.points:
        rows = "".join(
            f"<tr{' class=chosen' if item.name == point.chosen else ''}><td>{esc(item.name)}</td><td>{esc(item.text)}</td>"
            f"<td><code>{esc(item.code)}</code></td></tr>"
            for item in point.alternatives
        )
        parts.append(f"<h3>{esc(point.name)}</h3><table><tr><th>alternative</th><th>text</th><th>{esc(point.constant)}</th></tr>{rows}</table>")
    return parts


def _openings(family: Family) -> list[str]:
    """What else operators may use: ports and lists."""
    said = [f"port {port.name}: {'.'.join(port.key)}, from {port.low}" for port in family.ports]
    said += [f"list {item.name}: {item.noun} by {item.quantity}" for item in family.filterables]
    return ["<h2>Ports and lists</h2><ul>" + "".join(f"<li>{esc(one)}</li>" for one in said) + "</ul>"] if said else []


def page(title: str, body: str) -> str:
    """A whole HTML page."""
    return f"<!doctype html>\n<html lang='en'><meta charset='utf-8'><title>{esc(title)}</title><style>{STYLE}</style>\n{body}\n</html>\n"


def esc(text: str) -> str:
    """Text made safe for HTML."""
    return html.escape(str(text))
