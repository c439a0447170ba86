"""What each line gained, in one sentence that a person can repeat; first what the lake at hand shows, then,
of lines without a gain in it, the recorded result of a long run with its date and command (`recorded.toml`).

A line says its sentence by `LineArtifacts.gained` and shows it by `LineArtifacts.exhibit`; without the first,
the sentence comes from its row of the table of all lines. A study that stands on one line speaks for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from evolake.lake import Lake
from evolake.lines import folder_of, lines
from evolake.reading.toml_text import parse_toml
from evolake.report.artifacts import Exhibit, artifacts_of
from evolake.report.finished_cycle import as_rows, asking
from evolake.report.standings import standing_of
from evolake.report.status import sealed_cycles

LOOK = "look: evolake report --open; evolake status --table has intervals, evaluations and seconds"


@dataclass(frozen=True)
class Recorded:
    """A result of a long run, as it was written down: when, by which command, at what cost, and on which page
    of the repository. bars: label and value in `unit`, with the ends of its 95 % interval if they are known.
    """

    sentence: str
    date: str
    command: str
    cost: str
    source: str
    unit: str
    bars: Sequence[Sequence[Any]] = ()


@dataclass(frozen=True)
class Gained:
    """One line's gain. recorded: None if it is of the lake at hand. study: the study that speaks for the
    line."""

    line: str
    sentence: str
    recorded: Recorded | None = None
    study: str = ""
    exhibit: Exhibit = field(default_factory=Exhibit)

    def __str__(self) -> str:
        if self.recorded is None:
            return f"{self.line}: {self.sentence}"
        return (
            f"{self.line}: no gain in this lake; recorded on {self.recorded.date}: {self.sentence} "
            f"({self.recorded.command})"
        )


def gains(lake: Lake, wanted: Sequence[str] = (), *, shown: bool = False) -> list[Gained]:
    """Return what each line with a finished cycle gained: first those with a gain in the lake, quick lines
    first, then recorded results.

    wanted: lines; all by default. shown: with pictures and texts, some of which come from programs that run
    in the jail.

    Raises:
        LakeError: a table that is needed is damaged.
    """
    own = dict[str, Gained]()
    specs = lines().values()
    # quick lines first, studies that speak for no line last
    for spec in sorted(
        specs, key=lambda item: (bool(item.findings) > (len(item.stands_on) == 1), item.weight, item.name)
    ):
        name = spec.name
        study = bool(spec.findings)
        line = spec.stands_on[0] if study and len(spec.stands_on) == 1 else name
        if (not wanted or line in wanted) and (gained := _own(lake, name, line, study, shown)):
            own.setdefault(line, gained)
    return [
        *own.values(),
        *(
            Gained(line, known.sentence, known)
            for line, known in recorded().items()
            if line not in own and (not wanted or line in wanted) and sealed_cycles(lake, line)
        ),
    ]


def _own(lake: Lake, name: str, line: str, study: bool, shown: bool) -> Gained | None:
    """Return what a line or a study has gained in this lake; None if nothing."""
    done, own = sealed_cycles(lake, name), artifacts_of(name)
    if not done and not study:
        return None
    if own.gained is None:
        row = standing_of(lake, name)
        if row is None or not row.is_gain:
            return None
        return Gained(line, f"{row.best}; at the start {row.start}: {row.gain}")
    with asking(lake, name, done[-1] if done else "") as (_, frames):
        ask = as_rows(frames)
        sentence = own.gained.load()(lake, ask)
        if not sentence:
            return None
        shows = own.exhibit.load()(lake, ask) if shown and own.exhibit else Exhibit()
        return Gained(line, sentence, study=name if study else "", exhibit=shows)


@cache
def recorded() -> Mapping[str, Recorded]:
    """Return line -> its recorded result."""
    text = (folder_of("evolake.report") / "recorded.toml").read_text(encoding="utf-8")
    return {line: Recorded(**entry) for line, entry in parse_toml(text, name="recorded.toml").items()}
