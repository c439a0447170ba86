"""`evolake families gallery`: one HTML page per family, with a statement, its label, the rules that may
change, and every program that votes; and an index.

Pages are made from the families alone, so they show what runs. Nothing is loaded from elsewhere, and all text
is escaped: a family may be a model's. The templates are with the report's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from evolake import settings as settings_module
from evolake.commands import OrdinaryPath
from evolake.families.model.contract import Family
from evolake.families.model.statement import stated
from evolake.families.settings import FamiliesSettings
from evolake.file_names import file_name
from evolake.report.pages import render
from evolake.terminal import say

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


DIFFICULTIES = (2, 7)


@click.command(short_help="Write a page per family with instances and programs.")
@click.option("--out", type=OrdinaryPath(file_okay=False), required=True, help="Folder to write.")
@click.option(
    "--from",
    "source",
    type=OrdinaryPath(),
    default=None,
    help="A family's folder, a folder of such, or a JSONL file (default: the seeds).",
)
@click.option(
    "--evolved", is_flag=True, help="Every accepted family of the lake instead of the seed families."
)
def gallery(out: Path, source: Path | None, evolved: bool) -> int:
    """Write an index and one page per family: two instances with their labels, the rules that may change, and
    every program."""
    from evolake.families.commands.group import read_path
    from evolake.families.sandbox.running import PRELOAD
    from evolake.jail import open_pool

    settings = settings_module.load()
    if source is not None and evolved:
        raise click.UsageError("--from and --evolved exclude each other")
    result = (
        _of_lake(settings.require_lake()) if evolved else read_path(source or settings.seeds / "families")[0]
    )
    with open_pool(workers=1, preload=PRELOAD, mode=settings.jail) as pool:
        examples = {family.family_id: examples_of(family, pool, settings) for family in result}
    written = write_gallery(result, examples, out)
    say(f"families shown: {len(result)}; open {written[0]}")
    return 0


def examples_of(family: Family, pool: Any, settings: Any) -> list[Example]:
    """Return labelled instances at DIFFICULTIES; one without a strict majority is left out."""
    from evolake.families.gates.consensus import take_votes
    from evolake.families.gates.execution import caps_of
    from evolake.families.sandbox.running import generate
    from evolake.seeds import child_seed

    pairs = [
        (difficulty, child_seed(settings.seed, "families", family.family_id, "gallery", difficulty))
        for difficulty in DIFFICULTIES
    ]
    made = [
        item
        for item in generate(family, pairs, pool=pool, caps=caps_of(settings.of(FamiliesSettings)))
        if item.status == "ok"
    ]
    votes = take_votes(family, made, pool=pool, settings=settings.of(FamiliesSettings))
    return [
        Example(item.difficulty, item.text, vote.label, len(vote.for_label), len(vote.statuses))
        for item, vote in zip(made, votes, strict=True)
        if vote.decided
    ]


def _of_lake(root: Path) -> list[Family]:
    from evolake.errors import InputError
    from evolake.families.commands.exporting import finished
    from evolake.families.dataset.datasets import archive_after, load_families
    from evolake.lake import Lake

    lake = Lake(root)
    done = finished(lake, None)
    if not done:
        raise InputError(
            f"no cycle of families is finished in {root}", do="run `evolake run --cycles 1 --lines families`"
        )
    return load_families(lake, archive_after(lake, done[-1]).rows("accepted"))
