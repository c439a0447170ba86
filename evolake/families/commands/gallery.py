"""`evolake families gallery`: a page a family, to read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evolake import settings as settings_module
from evolake.commands import OrdinaryPath
from evolake.families.settings import FamiliesSettings
from evolake.terminal import say

if TYPE_CHECKING:
    from evolake.families.dataset.gallery import Example
    from evolake.families.model.contract import Family

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
    from evolake.families.dataset.gallery import write_gallery
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
    from evolake.families.dataset.gallery import Example
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
    from evolake.families.commands.export import finished
    from evolake.families.dataset.datasets import archive_after, load_families
    from evolake.lake import Lake

    lake = Lake(root)
    done = finished(lake, None)
    if not done:
        raise InputError(
            f"no cycle of families is finished in {root}", do="run `evolake run --cycles 1 --lines families`"
        )
    return load_families(lake, archive_after(lake, done[-1]).rows("accepted"))
