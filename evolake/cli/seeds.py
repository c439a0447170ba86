"""`evolake seeds`: bring a seed to a line, see which wait, and start a line over on other seeds.

A seed is a file or folder among the seeds of its line. What is new there enters the cycle that is opened
next, whether it came by `add` or was dropped into the folder.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evolake import project
from evolake import settings as settings_module
from evolake.commands import AS_JSON, OrdinaryPath
from evolake.errors import InputError
from evolake.terminal import say, say_json

if TYPE_CHECKING:
    from evolake.lake.added_seeds import SeedItem, SeedSource


@click.group(short_help="Add, list and reseal the seeds of a line.")
def seeds() -> None:
    """Manage what evolution starts from, and what enters it later: add a seed, list what waits, start over.

    \b
    Examples:
      evolake seeds add my_design.py
      evolake seeds list --line designs
    """


@seeds.command(short_help="Copy PATH to a line's seeds, for the next cycle.")
@click.argument("path", type=OrdinaryPath())
@click.option(
    "--line", "name", default=None, help="Line that it is for (default: the one whose seeds look like it)."
)
@AS_JSON
def add(path: Path, name: str | None, as_json: bool) -> int:
    """Copy the file or folder PATH among the seeds of a line; it enters the next cycle, after the same gates
    as any other.

    The copy is stored below the lake in use, in its folder `seeds`, or in the folder that EVOLAKE_SEEDS
    names.
    """
    from evolake.lake import Lake
    from evolake.lake.added_seeds import copy_seed
    from evolake.report.entering import entry

    if not path.exists():
        raise InputError(f"there is no file or folder {path}", wanted="a seed", do="check the path")
    settings = settings_module.load()
    line, source = _line_of(path, name)
    title = source.check(path)
    below, name = settings.added_seeds, path.resolve().name
    places = [folder / source.folder / name for folder in settings.seed_folders]
    target = next((place for place in places if place.exists()), below / source.folder / name)
    try:
        new = copy_seed(path, target, below / ".adding")
    except FileExistsError:
        own = target.is_relative_to(below)
        do = "rename yours" + (", or edit that one: what is changed enters as a new seed" if own else "")
        raise InputError(
            f"another seed is at {target}", wanted="a name that is free", got=path.name, do=do
        ) from None
    except OSError as error:
        raise InputError(
            f"{target} cannot be written",
            got=str(error.strerror or error),
            do="see whether the seeds' folder may be written",
        ) from None
    enters, summary = entry(Lake(settings.require_lake()), line)
    if as_json:
        say_json(
            {
                "verdict": "added" if new else "present",
                "line": line,
                "seed": title,
                "path": str(target),
                "enters": enters,
            }
        )
        return 0
    say(f"{line}: {title} {'was added' if new else 'is there already'} ({target})")
    say(f"  {summary}", f"  next: evolake run --lines {line}")
    return 0


@seeds.command("list", short_help="List the seeds of each line, and which have entered.")
@click.option("--line", "name", default=None, help="One line only (default: all).")
@AS_JSON
def list_seeds(name: str | None, as_json: bool) -> int:
    """List the seeds of each line, the file or folder of each, and whether they have entered its
    evolution."""
    from evolake.lake import Lake
    from evolake.lake.added_seeds import entered_seeds, seeds_of

    settings = settings_module.load()
    lake = Lake(settings.require_lake())
    rows: list[dict[str, Any]] = []
    for line, source in _sources(name).items():
        entered = entered_seeds(lake, line)
        for item in seeds_of(source, settings):
            known = entered.get(item.sha, {})
            rows.append(
                {
                    "line": line,
                    "seed": _title(source, item),
                    "place": _place(item, settings.seed_folders),
                    "state": known.get("state", "waits"),
                    "cycle": known.get("cycle"),
                    "artifact_id": known.get("artifact_id"),
                }
            )
    if as_json:
        say_json({"verdict": "ok", "seeds": rows})
        return 0
    widths = {name: max((len(row[name]) for row in rows), default=0) for name in ("line", "seed", "place")}
    for row in rows:
        state = f"{row['state']} in cycle {row['cycle']}" if row["cycle"] else row["state"]
        entered = f", {row['artifact_id'][:8]}" if row["artifact_id"] else ""
        say("  ".join([*(row[name].ljust(width) for name, width in widths.items()), state + entered]))
    return 0


@seeds.command(short_help="Start LINE again from its current seeds.")
@click.argument("line")
@click.option("--yes", is_flag=True, help="Do not ask.")
def reseal(line: str, yes: bool) -> int:
    """Start LINE over: seal its seeds as they are now as cycle 0001. Its finished cycles stay readable until
    they run again."""
    from evolake.lake import Lake
    from evolake.report.status import known_line, sealed_cycles

    lake = Lake(settings_module.load().require_lake())
    done = sealed_cycles(lake, known_line(lake.root, line))
    if done:
        say(
            f"This voids the finished cycles {done[0]} to {done[-1]} of {line}: they have to run again, "
            "on the seeds as they are now."
        )
        say(f"New seeds need no resealing: they enter the next cycle (evolake run --lines {line}).")
    if not yes:
        click.confirm(f"Seal the seeds of {line} again?", abort=True)
    os.environ["DAGSTER_HOME"] = str(project.home(lake.root))
    return subprocess.run([*project.command("pipelines.reseal"), line], check=False).returncode


def _title(source: SeedSource, item: SeedItem) -> str:
    """Return what a seed calls itself, where it is a folder that says so; else the name of its file or
    folder."""
    if item.path is None or not item.path.is_dir():
        return item.name
    try:
        return source.check(item.path)
    except InputError:  # what cannot be used waits for its gates under the folder's name
        return item.name


def _place(item: SeedItem, folders: Sequence[Path]) -> str:
    """Return the file or folder that it is in: below the first folder of seeds as a relative path, else in
    full."""
    if item.path is None:
        return ""
    return (
        item.path.relative_to(folders[0]).as_posix()
        if item.path.is_relative_to(folders[0])
        else str(item.path)
    )


def _sources(name: str | None = None) -> dict[str, SeedSource]:
    """Line -> its seeds, of every line that has some.

    Raises:
        InputError: `name` is no such line.
    """
    from evolake.lines import lines

    result = {spec.name: spec.seeds for spec in lines().values() if spec.seeds}
    if name is not None and name not in result:
        raise InputError(
            f"no line {name!r} takes seeds", wanted=f"one of {', '.join(result)}", do="see evolake seeds list"
        )
    return {line: source.load() for line, source in result.items() if name in (None, line)}


def _line_of(path: Path, name: str | None) -> tuple[str, SeedSource]:
    """Return the line that a file or folder is a seed of."""
    sources = _sources(name)
    fitting = (
        list(sources.items())
        if name
        else [(line, source) for line, source in sources.items() if source.accepts(path)]
    )
    if len(fitting) != 1:
        got = ", ".join(line for line, _ in fitting) or "none whose seeds look like it"
        raise InputError(
            f"it is not clear which line {path} is for",
            wanted=f"one of {', '.join(sources)}",
            got=got,
            do="name it: --line NAME",
        )
    return fitting[0]
