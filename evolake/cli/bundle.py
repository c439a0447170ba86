"""`evolake bundle`: a champion as one file that carries what is needed to check it, and the check of such a
file.

Exit codes of `verify`: 0 it holds, 1 it does not, 2 wrong usage, 3 it cannot be judged on this machine.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import click

from evolake import settings as settings_module
from evolake.commands import OrdinaryPath
from evolake.errors import InputError
from evolake.terminal import say, say_json

DRAWN = 5


@click.group(short_help="Export a champion as a file, or verify such a file.")
def bundle() -> None:
    """Export a champion as a file that anybody can check, or verify one.

    \b
    Examples:
      evolake bundle export designs -o designs.tar
      evolake bundle verify designs.tar
    """


@bundle.command(short_help="Write CHAMPION with everything that is needed to verify it.")
@click.argument("champion", metavar="CHAMPION")
@click.option(
    "-o",
    "--out",
    type=OrdinaryPath(dir_okay=False),
    required=True,
    help="The file to write; nothing is overwritten.",
)
@click.option(
    "--project",
    default="",
    help="Of a line with a champion for each project: which; default: the first by name.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else.")
def export(champion: str, out: Path, project: str, as_json: bool) -> int:
    """Write CHAMPION with all that is needed to check it: a line's name for its champion, or an accepted
    artifact's id (or its first 8 digits)."""
    from evolake.bundles.container import Refused, unpack
    from evolake.bundles.exporting import export as exported
    from evolake.lake import Catalogue, Lake

    if out.exists():
        raise InputError(
            f"{out} is there already",
            wanted="a file that is not there yet",
            do="choose another name: nothing is overwritten",
        )
    settings = settings_module.load()
    lake = Lake(settings.require_lake())
    with Catalogue(lake) as catalogue:
        data = exported(lake, catalogue, champion, settings, project)
    unpacked = unpack(data)
    if isinstance(unpacked, Refused):
        raise AssertionError(f"what was packed cannot be read: {unpacked.reason}")
    write_whole(out, data)
    details = {
        "out": str(out),
        "root": unpacked.root,
        "bytes": len(data),
        "members": sorted(unpacked.members),
        **unpacked.facts,
    }
    if as_json:
        say_json({"verdict": "exported"} | details)
    else:
        facts = unpacked.facts
        say(
            f"{out}: {facts['line']} {facts['kind']} {facts['title']}, {len(unpacked.members)} members, "
            f"{len(data):,} bytes"
        )
        say(f"  root {unpacked.root}", f"  next: evolake bundle verify {out}")
    return 0


@bundle.command(short_help="Verify the bundle FILE without a lake.")
@click.argument("file", metavar="FILE", type=OrdinaryPath())
@click.option("--all", "everything", is_flag=True, help="Run every evaluation again that it brings.")
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    default=None,
    help=f"Run this many again, drawn at random (default: {DRAWN}).",
)
@click.option(
    "--root",
    default=None,
    metavar="HEX",
    help="The root hash that it must have, as `export` printed it (default: any).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else.")
def verify(file: Path, everything: bool, sample: int | None, root: str | None, as_json: bool) -> int:
    """Check the bundle FILE: whole, and what it claims holds when run again here, in the jail. Needs no lake.

    Exit code 0 where it holds, 1 where it does not, 3 where this machine cannot judge it (no jail, no
    compiler, a package that is missing).
    """
    from evolake.bundles.verifying import verify as verified

    if everything and sample is not None:
        raise InputError("--all and --sample say two things", wanted="one of them", do="leave one out")
    if root is not None and not re.fullmatch("[0-9a-f]{64}", root):
        raise InputError(
            "--root is no root hash",
            wanted="64 hexadecimal digits",
            got=root[:80],
            do="take what `evolake bundle export` printed",
        )
    quiet = as_json or not sys.stderr.isatty()
    result = verified(
        file,
        sample=None if everything else sample or DRAWN,
        root=root,
        progress=lambda text: None if quiet else say(text, err=True),
    )
    if as_json:
        say_json(result.to_json())
    else:
        for line in result.lines():
            say(line)
    return result.exit_code


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all. Raises InputError where it cannot be written."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InputError(
            f"{path} cannot be written",
            got=error.strerror or str(error),
            do="choose a place that you can write to",
        ) from None
