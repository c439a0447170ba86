"""One row of the table of all lines (`report.standings`): what leads a line, what it started from and how
much was gained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

Row = dict[str, Any]
Ask = Callable[..., list[Row]]
"""(SQL, **parameters) -> rows of the lake."""
NOBODY = "none yet"
NOT_MEASURED = "not measured"
"""Shown in place of a gain for a line that measures none."""
COLUMNS = ("line", "best", "start", "gain", "evaluations", "seconds")


@dataclass(frozen=True)
class Standing:
    """One line, or one study, in a row.

    Attributes:
        cycles: finished ones; 0 for a study.
        best, start: what leads and what it is compared with, each with its figure if one is known.
        gain: in words, with its interval; "none yet" if there is none; says so if the number has no interval.
        estimate, low, high, level: of a gain that is an estimate with an interval, else None. is_gain:
            whether it may be called a gain.
        evaluations: runs, replies or judged versions, see each line; None if the line does not count them.
        seconds: on the clock, over all runs of the line, each from its first published table to its last.
    """

    line: str
    cycles: int = 0
    best: str = NOBODY
    start: str = ""
    gain: str = NOT_MEASURED
    is_gain: bool = False
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    evaluations: int | None = None
    seconds: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the row as one JSON object."""
        return asdict(self)

    def cells(self) -> tuple[str, ...]:
        """Return the texts of the columns COLUMNS."""
        evaluations = "-" if self.evaluations is None else f"{self.evaluations:,}"
        seconds = "-" if self.seconds is None else f"{self.seconds:,.0f}"
        return self.line, self.best, self.start or "-", self.gain, evaluations, seconds
