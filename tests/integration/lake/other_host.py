"""A run on another host: takes a line, publishes and seals, says so, and on a line from standard input tries
both once more. argv: lake."""

from __future__ import annotations

import sys

import polars as pl

from evolake.errors import PartitionBusy
from evolake.lake import Lake

lake = Lake(sys.argv[1])


def work(cycle: str) -> str:
    """Publishes and seals; gives how each went."""
    parts = []
    for what in (
        lambda: lake.publish(
            "designs", "candidates", pl.DataFrame({"by": ["far"]}), cycle=cycle, run_id="far"
        ),
        lambda: lake.seals.seal("designs", cycle, f"far {cycle}", None, "far"),
    ):
        try:
            what()
            parts.append("done")
        except PartitionBusy as error:
            parts.append(error.what)
    return "; ".join(parts)


with lake.line_lock("designs", run_id="far"):
    print(work("0001"), flush=True)
    sys.stdin.readline()
    print(work("0002"), flush=True)
    sys.stdin.readline()
