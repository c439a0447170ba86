"""What finished cycles of the line say to the editors of the next one: edits that were refused, duels, and
why gates blocked a child."""

from __future__ import annotations

from typing import Any

from evolake.lake import Lake
from evolake.prompts.reproduction.memory import SearchMemory
from evolake.prompts.reproduction.operators import LINE

CYCLES_READ = 5


def memory_of(lake: Lake, cycle: str) -> SearchMemory:
    """Return what the newest cycles before `cycle` say.

    Raises:
        CorruptPart, LakeError: as reading the lake does.
    """
    before = [name for name in lake.seals.cycles(LINE) if name < cycle][-CYCLES_READ:]

    def rows(asset: str) -> list[dict[str, Any]]:
        return [
            row
            for name in before
            if lake.record(LINE, asset, name) is not None
            for row in lake.read(LINE, asset, name).to_dicts()
        ]

    objections = {
        row["prompt_id"]: f"{row['gate']}: {row['reason']}" for row in rows("accepted") if not row["passed"]
    }
    return SearchMemory(edits=rows("edits"), decisions=rows("champion"), objections=objections)
