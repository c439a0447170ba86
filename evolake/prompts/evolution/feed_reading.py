"""What a cycle reads of families, fixed when it opens: finished cycles of the families line, and what the
cycles before it learnt.

Which tables those are is noted with their content. A run of the same cycle again reads the same ones,
whatever the families line has made since, as long as they are there with that content; a cycle of families
that runs at the same time is not sealed, and not read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from evolake.lake import Lake, following
from evolake.prompts.model.problems import FAMILIES, finished_families
from evolake.prompts.model.protocol import LINE

LEARNABILITY = "learnability"


@dataclass(frozen=True)
class Reading:
    """rows: of FEED_READ. kept: an earlier run of the cycle noted them. renewed: what it noted is not there
    any more, or not with that content."""

    rows: list[dict[str, Any]]
    kept: bool = False
    renewed: bool = False

    @property
    def families(self) -> list[str]:
        """The cycles of the families line whose instances are read."""
        return [
            row["of_cycle"]
            for row in self.rows
            if row["asset"] == "instances" and row["of_cycle"] is not None
        ]

    def learnt(self, lake: Lake) -> list[pl.DataFrame]:
        """Return the tables of what the policy learnt, oldest first."""
        return [
            lake.read(LINE, LEARNABILITY, row["of_cycle"])
            for row in self.rows
            if row["asset"] == LEARNABILITY
        ]


def reading(lake: Lake, cycle: str, noted: Sequence[Mapping[str, Any]]) -> Reading:
    """Return what a cycle reads: what its earlier run noted, or what is finished now.

    Args:
        noted: rows of FEED_READ of an earlier run of the cycle; none if there was none, or it read nothing.
    """
    if noted and all(
        row["of_cycle"] is None
        or _sha(lake, row["line"], row["asset"], row["of_cycle"]) == row["content_sha"]
        for row in noted
    ):
        return Reading([dict(row) for row in noted], kept=True)
    done = finished_families(lake)
    tables: list[tuple[str, str, str | None]] = [(FAMILIES, "instances", item) for item in done] or [
        (FAMILIES, "instances", None)
    ]
    tables += [(FAMILIES, "incoming_families", following(done[-1]))] if done else []
    tables += [(LINE, LEARNABILITY, item) for item in lake.cycles(LINE, LEARNABILITY) if item < cycle]
    return Reading(
        [
            {
                "cycle": cycle,
                "number": number,
                "line": line,
                "asset": asset,
                "of_cycle": of_cycle,
                "content_sha": None if of_cycle is None else _sha(lake, line, asset, of_cycle),
            }
            for number, (line, asset, of_cycle) in enumerate(tables)
        ],
        renewed=bool(noted),
    )


def _sha(lake: Lake, line: str, asset: str, cycle: str) -> str | None:
    record = lake.record(line, asset, cycle)
    return None if record is None else record.content_sha
