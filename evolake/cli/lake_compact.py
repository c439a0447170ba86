"""`evolake lake compact`: few files per table instead of one per cycle."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from evolake import settings as settings_module
from evolake.commands import AS_JSON, LAKE
from evolake.terminal import say, say_json


@click.command("compact", short_help="Merge the parts of many cycles into few files.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@LAKE
@AS_JSON
def compact(dry_run: bool, root: Path | None, as_json: bool) -> None:
    """Put the parts of many cycles into few files per table.

    Content, hashes of record and the answers of SQL stay as they are. Nothing is done while a line is
    running. May be interrupted and run again. A process that has the lake open at that moment may have to
    repeat its query.
    """
    from evolake.lake import Lake
    from evolake.lake import compact as compaction

    lake = Lake(root or settings_module.load().require_lake())
    done = compaction.compact(lake, dry_run=dry_run)
    if as_json:
        tables = [asdict(table) for table in done]
        say_json({"verdict": "dry run" if dry_run else "compacted", "lake": str(lake.root), "tables": tables})
        return
    for table in done:
        size = f"{table.bytes_before} bytes" + (
            "" if table.bytes_after is None else f" to {table.bytes_after}"
        )
        say(
            f"{table.line}.{table.asset}: {table.parts} parts {'would go' if dry_run else 'are'} in "
            f"{table.files} files, {size}"
        )
    if not done:
        say("nothing to do: no table has parts that could be put together")
    elif dry_run:
        say("nothing was changed; to do it: evolake lake compact")
