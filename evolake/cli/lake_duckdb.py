"""`evolake lake duckdb`: the lake as a database file for other tools."""

from __future__ import annotations

from pathlib import Path

import click

from evolake import settings as settings_module
from evolake.commands import OrdinaryPath
from evolake.terminal import say, say_json


@click.command(short_help="Write FILE, a DuckDB database of views over the lake.")
@click.argument("file", type=OrdinaryPath(dir_okay=False))
@click.option(
    "--lake",
    "root",
    type=OrdinaryPath(file_okay=False, exists=True),
    help="The lake's folder (default: EVOLAKE_LAKE).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def duckdb(file: Path, root: Path | None, as_json: bool) -> None:
    """Write FILE, a DuckDB database of views over the lake, which any tool may open read-only.

    An earlier FILE of this command is replaced. It shows the cycles that are there now: write it again after
    a cycle, or after the lake was moved.
    """
    from evolake.cli.known_tables import all_tables
    from evolake.lake import Lake
    from evolake.lake.duckdb_file import write

    lake = Lake(root or settings_module.load().require_lake())
    views = write(lake, file, all_tables())
    if as_json:
        say_json({"verdict": "written", "file": str(file), "lake": str(lake.root), "views": views})
    else:
        say(f"{file}: {views} views over {lake.root}")
