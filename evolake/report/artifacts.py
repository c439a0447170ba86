"""What a line says of its artifacts beyond the tables that all lines share: `LineSpec.artifacts` names a `LineArtifacts`.

A line that names none has the defaults: an artifact is the blob that its row names, and of a champion's gain nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evolake.lines import lines, resolve
from evolake.report.kinds import Artifact, Kind
from evolake.report.numbers import decimals_known, figures
from evolake.stats import Interval

if TYPE_CHECKING:
    from evolake.lake import Catalogue, Lake

NOT_SHOWN = "not beyond the noise"


@dataclass(frozen=True)
class Gain:
    """How much better a champion is than what it was measured against.

    Attributes:
        interval: of a ratio ("2.00 times lower PAR-2") or of a difference of shares ("+4.0% of correct replies"), see `is_ratio`.
        measure: what the figure counts, so that it reads after "times" or after a percentage.
        against_id, against: the artifact that it was measured against, and what to call it; "": its title.
        sample: on what, in words. cycle: when. beyond_noise: whether more than noise may be claimed.
        own, other: what was measured of either side, in the unit of `measure`; None where only their relation is known.
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

    @property
    def figure(self) -> str:
        """The estimate as it is said, to the digits that the interval leaves: `2.00 times` or `+4.0%`."""
        return f"{self._written(self.interval.estimate)} times" if self.is_ratio else self._written(self.interval.estimate)

    @property
    def spread(self) -> str:
        """The interval as it is said, with the noise floor where there is one."""
        floor = f", noise floor {figures(self.noise_floor)}" if self.noise_floor is not None else ""
        ends = f"{self._written(self.interval.low)} to {self._written(self.interval.high)}"
        return f"{100 * self.interval.level:g}% interval {ends}{floor}"

    @property
    def short(self) -> str:
        """In the words that a table has room for."""
        return f"{self.figure} {self.measure} ({self.spread.partition(',')[0]})"

    def _written(self, value: float) -> str:
        low, high = self.interval.low, self.interval.high
        return f"{value:,.{decimals_known(low, high)}f}" if self.is_ratio else f"{100 * value:+.{decimals_known(100 * low, 100 * high)}f}%"

    def __str__(self) -> str:
        claim = "" if self.beyond_noise else f"; {NOT_SHOWN}"
        return f"{self.figure} {self.measure} than {self.against} ({self.spread}), {self.sample}{claim}"

    def to_json(self) -> dict[str, Any]:
        """As one JSON object."""
        of_interval = {name: getattr(self.interval, name) for name in ("estimate", "low", "high", "level")}
        names = ("measure", "is_ratio", "against_id", "against", "sample", "cycle", "beyond_noise", "noise_floor", "own", "other")
        return {"text": str(self)} | of_interval | {name: getattr(self, name) for name in names}


def unknown_gain(_lake: Lake, _artifact_id: str, _cycle: str, _since: str) -> Gain | None:
    """Of a line that measures no gain."""
    return None


@dataclass(frozen=True)
class LineArtifacts:
    """What a line says of its artifacts.

    Attributes:
        gain: (lake, champion's id, the finished cycle at whose end it holds the title, since which cycle) -> its gain, None where none was measured.
        score: what the number in `champions` is.
        titles: of a line with several titles beside each other: SELECT of name, cycle, artifact_id and score; `champions` holds the first by name.
        outcome: (catalogue, a finished cycle) -> one plain sentence for whoever watches; None: champion, gain and how many were accepted.
        crowns_none: of a line that has no champion by its nature: what to look at instead.
        kinds: kind, as in `artifacts`, -> how it is found, shown and written.
    """

    gain: Callable[[Lake, str, str, str], Gain | None] = unknown_gain
    score: str = "consensus"
    crowns_none: str = ""
    titles: str = ""
    outcome: Callable[[Catalogue, str], str] | None = None
    kinds: Mapping[str, Kind] = field(default_factory=dict[str, Kind])


def artifacts_of(line: str) -> LineArtifacts:
    """What `line` says; the defaults where it says nothing or is not installed."""
    spec = lines().get(line)
    return resolve(spec.artifacts) if spec and spec.artifacts else LineArtifacts()


def kind_of(artifact: Artifact) -> Kind:
    """How an artifact is found, shown and written."""
    return artifacts_of(artifact.line).kinds.get(artifact.kind, Kind())
