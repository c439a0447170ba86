"""The gallery: one HTML page per family, with a statement, its label, the rules that may change, and every
program that votes; and an index.

Pages are made from the families alone, so they show what runs. Nothing is loaded from elsewhere, and all text
is escaped: a family may be a model's. The templates are with the report's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.families.model.contract import Family
from evolake.families.model.statement import stated
from evolake.file_names import file_name
from evolake.report.pages import render

PACKAGE = "evolake.families.report"


@dataclass(frozen=True)
class Example:
    """An instance of a family: difficulty, statement, label; how many voters gave the label."""

    difficulty: int
    text: str
    label: Any
    votes: int
    voters: int


def write_gallery(
    families: Sequence[Family], examples: Mapping[str, Sequence[Example]], folder: Path
) -> list[Path]:
    """index.html and a page per family below `folder`. examples: by family_id. Gives the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / "index.html"]
    written[0].write_text(index_page(families), encoding="utf-8")
    for family in families:
        written.append(folder / page_name(family))
        written[-1].write_text(family_page(family, examples.get(family.family_id, ())), encoding="utf-8")
    return written


def page_name(family: Family) -> str:
    """Return the page's file: the name for people (a model may have given it), and enough of the id to
    distinguish two of one name."""
    return file_name(f"{family.name}-{family.family_id[:8]}", ".html")


def index_page(families: Sequence[Family]) -> str:
    """Return all families, by category."""
    ordered = sorted(families, key=lambda item: (item.category, item.title, item.family_id))
    return render(PACKAGE, "gallery_index.html.j2", families=ordered, page_name=page_name)


def family_page(family: Family, examples: Sequence[Example]) -> str:
    """Return one family: instances, mutation points with their alternatives as text and code, what else
    operators may use, every program."""
    return render(
        PACKAGE,
        "gallery_family.html.j2",
        family=family,
        examples=examples,
        stated=stated(family),
        shown=_label_text,
    )


def _label_text(label: Any) -> str:
    return label if isinstance(label, str) else json.dumps(label, ensure_ascii=False)
