"""How much better a champion is than what it was measured against, in figures and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from evolake.report.numbers import decimals_known, figures
from evolake.stats import Interval

NOT_SHOWN = "not beyond the noise"
NONE_YET = "none yet"
"""Shown in place of a gain if there is none: nothing was better, or not by more than noise."""
BOUNDS = {"lower bound": "at least ", "estimate": "an estimated "}
"""Before a figure of which one side was not measured to its end."""


@dataclass(frozen=True)
class Gain:
    """How much better a champion is than what it was measured against.

    Attributes:
        interval: of a ratio ("2.00 times lower cost") or of a difference of shares ("+4.0 percentage points
            more correct replies"), see `is_ratio`.
        measure: what the figure counts, so that it reads after "times" or "percentage points".
        against_id, against: the artifact that it was measured against, and what to call it; "": its title.
        sample: on what, in words. cycle: when. beyond_noise: whether more than noise may be claimed.
        own, other: what was measured of either side, in the unit of `measure`; None where only their relation
            is known.
        count: what the interval rests on, with its number: "8 seeds". bound: "lower bound" or "estimate" if
            one side was not measured to its end.
    """

    interval: Interval
    measure: str
    against_id: str
    sample: str
    cycle: str
    beyond_noise: bool
    against: str = ""
    noise_floor: float | None = None
    is_ratio: bool = True
    own: float | None = None
    other: float | None = None
    count: str = ""
    bound: str = ""

    @property
    def is_gain(self) -> bool:
        """Return whether this may be called a gain: it is better, and by more than noise."""
        return self.beyond_noise and self.interval.estimate > self._neutral

    @property
    def figure(self) -> str:
        """Return the estimate with its unit, to the digits that the interval leaves: `2.00 times` or `+4.0
        percentage points`.

        `at least 2.00 times` if it is a lower bound.
        """
        before = BOUNDS.get(self.bound, "")
        return f"{before}{self._written(self.interval.estimate)}{' times' if self.is_ratio else ' percentage points'}"  # noqa: E501

    @property
    def spread(self) -> str:
        """Return the interval in words, with the noise floor if there is one."""
        floor = f", noise floor {figures(self.noise_floor)}" if self.noise_floor is not None else ""
        return f"{self._ends}{floor}"

    @property
    def short(self) -> str:
        """Return the gain in the words that a table has room for, or that there is none yet and what was
        measured instead."""
        if self.is_gain:
            return f"{self.figure} {self.measure} ({self._ends}{self._counted})"
        return f"{NONE_YET} ({self._difference('')}{self._counted}; {NOT_SHOWN})"

    @property
    def brief(self) -> str:
        """Return one sentence without the sample, for the line of text on a finished cycle."""
        if self.is_gain:
            return f"{self.figure} {self.measure} than {self.against} ({self.spread}{self._counted})"
        return f"gain: {NONE_YET} ({self._difference(self.against)}{self._counted}; {NOT_SHOWN})"

    @property
    def _ends(self) -> str:
        if self.interval.low == self.interval.high:
            return "the same in every measurement"
        return (
            f"{100 * self.interval.level:g}% interval {self._written(self.interval.low)} to "
            f"{self._written(self.interval.high)}"
        )

    @property
    def _counted(self) -> str:
        """What the interval rests on, for sentences without the sample."""
        return f", {self.count}" if self.count else ""

    @property
    def _neutral(self) -> float:
        """A ratio of 1 or a difference of 0: both sides are alike."""
        return 1.0 if self.is_ratio else 0.0

    def _difference(self, against: str) -> str:
        """Return what was measured if it is no gain. A difference of nothing is not written as a figure,
        which would read as a gain of 0."""
        than = f" than {against}" if against else ""
        if self._written(self.interval.estimate) != self._written(self._neutral):
            return f"{self.figure} {self.measure}{than}, {self._ends}"
        alike = f"no difference from {against}" if against else "no difference"
        return alike if self.interval.low == self.interval.high else f"{alike}, {self._ends}"

    def _written(self, value: float) -> str:
        low, high = self.interval.low, self.interval.high
        return (
            f"{value:,.{decimals_known(low, high)}f}"
            if self.is_ratio
            else f"{100 * value:+.{decimals_known(100 * low, 100 * high)}f}"
        )

    def __str__(self) -> str:
        if self.is_gain:
            return f"{self.figure} {self.measure} than {self.against} ({self.spread}), {self.sample}"
        return f"{NONE_YET}: {self._difference(self.against)}, {self.sample}; {NOT_SHOWN}"

    def to_json(self) -> dict[str, Any]:
        """Return it as one JSON object."""
        of_interval = {name: getattr(self.interval, name) for name in ("estimate", "low", "high", "level")}
        of_interval = {name: value if math.isfinite(value) else None for name, value in of_interval.items()}
        names = (
            "measure",
            "is_ratio",
            "against_id",
            "against",
            "sample",
            "cycle",
            "beyond_noise",
            "noise_floor",
            "own",
            "other",
            "count",
            "bound",
        )
        return {"text": str(self)} | of_interval | {name: getattr(self, name) for name in names}
