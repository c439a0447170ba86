"""What a line tells while it runs: records that are shown in the process that makes them, or travel to the
one that shows them as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Literal

SEEDS = "seeds"
"""`what` of a run that makes no cycle."""
Kind = Literal["began", "step", "working", "detail", "ended", "said", "stopped"]


@dataclass(frozen=True)
class Event:
    """One thing that happened to a line.

    kind: began (a run: its seeds or a cycle), step (an asset is running), working (how far that asset is),
    detail (for `-v`), ended (the run
        succeeded), said (for everybody), stopped (the line is at its end, well or badly).
    what: the run, as "cycle 2 of 3". text: the asset (working: and how far it is), the detail, the sentence.
    seconds: how long the run took. left_s: seconds until the line is through with all its cycles, by recorded
    times; None if none are recorded yet.
    """

    line: str
    kind: Kind
    what: str = ""
    text: str = ""
    seconds: float = 0.0
    left_s: float | None = None

    def to_json(self) -> str:
        """Return one line."""
        return json.dumps(asdict(self))


Tell = Callable[[Event], None]


def event_of(text: str) -> Event:
    """Return the event of a line that `to_json` wrote. Raises ValueError or TypeError where it is none."""
    return Event(**json.loads(text))
