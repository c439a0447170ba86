"""`evolake lake gc`: unused files, listed first and removed only when asked."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evolake import settings as settings_module
from evolake.commands import OrdinaryPath
from evolake.errors import InputError
from evolake.terminal import say, say_json

if TYPE_CHECKING:
    from evolake.lake.garbage import Garbage


@click.command(short_help="List unused files; remove them with --yes.")
@click.option("--yes", is_flag=True, help="Remove it. Without this nothing is removed.")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed; the default.")
@click.option(
    "--older-than",
    "hours",
    type=click.FloatRange(min=0),
    default=24.0,
    show_default=True,
    metavar="HOURS",
    help="Keep younger blobs.",
)
@click.option(
    "--lake",
    "root",
    type=OrdinaryPath(file_okay=False, exists=True),
    help="The lake's folder (default: EVOLAKE_LAKE).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def gc(yes: bool, dry_run: bool, hours: float, root: Path | None, as_json: bool) -> None:
    """Find blobs that nothing names and what dead writers left; say what they take, and with --yes remove
    them.

    Blobs that a sealed cycle, a superseded part, the call cache or a champion names are never removed, nor
    what such a blob names. Nothing is removed while a line is running.
    """
    from evolake.lake import Lake, lake_format
    from evolake.lake.garbage import collect, find

    if yes and dry_run:
        raise InputError(
            "it is not clear whether to remove anything",
            wanted="--yes or --dry-run",
            got="both",
            do="drop one of them",
        )
    lake = Lake(root or settings_module.load().require_lake())
    lake_format.require(lake.root)
    garbage = (collect if yes else find)(lake, older_than_s=hours * 3600)
    if as_json:
        items = [asdict(item) for item in garbage.items]
        verdict = "removed" if yes else "dry run"
        sizes = {"bytes": garbage.size, "needed": garbage.needed, "young": garbage.young}
        say_json({"verdict": verdict, "lake": str(lake.root)} | sizes | {"items": items})
        return
    _print(garbage, yes, hours)


def _print(result: Garbage, yes: bool, hours: float) -> None:
    for item in result.items:
        say(f"{'removed' if yes else 'would go'}  {item.where}  {item.size} bytes: {item.why}")
    say(
        f"kept: {result.needed} blobs that something names, {result.young} that nothing names yet and "
        f"that are younger than {hours:g} h"
    )
    freed = f"{len(result.items)} files, {result.size} bytes"
    say(
        f"freed: {freed}"
        if yes
        else f"would be freed: {freed}" + ("; to remove them: evolake lake gc --yes" if result.items else "")
    )
