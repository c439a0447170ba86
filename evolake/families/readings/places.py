"""What one examination of a reading gives, and what it may ask for: answers of the primary on changed inputs,
and of changed validators."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evolake.families.sandbox.running import Solved

LEAST_PROBES = 2
"""Probes that must show a reading before anything is said of it."""
Verdict = Literal["fixed", "never decides", "ambiguous", "contradicted"]


@dataclass(frozen=True)
class ReadingPlace:
    """One place of the text that can be read in two ways.

    reading: the name in the catalogue. says: what the text fixes, "" if nothing does. does: what the programs
    do. verdict: `fixed` (text and programs agree), `never decides` (no instance distinguishes the two
    readings), `ambiguous` (the text does not say which, and instances depend on it) or `contradicted` (the
    text says one, the programs do the other). decides, of: instances that distinguish the readings, of how
    many that were tried.
    """

    reading: str
    sentence: str
    says: str
    does: str
    verdict: Verdict
    decides: int = 0
    of: int = 0

    @property
    def open(self) -> bool:
        """Whether the author should look at it."""
        return self.verdict in ("ambiguous", "contradicted")

    def to_json(self) -> dict[str, Any]:
        """Return the place as plain JSON."""
        return {
            "reading": self.reading,
            "sentence": self.sentence,
            "says": self.says,
            "does": self.does,
            "verdict": self.verdict,
            "decides": self.decides,
            "of": self.of,
        }

    def remark(self) -> str:
        """Return the place in one sentence, for the author of the family."""
        shown = f"{self.sentence!r}"[:300]
        counts = f" ({self.decides} of {self.of} instances tell the two apart)" if self.of else ""
        if self.verdict == "contradicted":
            return (
                f"{self.reading}: the text says {self.says!r}, the programs do {self.does!r}{counts}: {shown}"
            )
        if self.verdict == "ambiguous":
            return (
                f"ambiguous: {self.reading} decides {self.decides} of {self.of} instances, and no "
                f"sentence says which: {shown}"
            )
        return f"{self.reading}: {self.verdict}: {shown}"


@dataclass(frozen=True)
class Wanted:
    """What an examiner needs to know. inputs: changed inputs for the primary. sources: changed validators,
    for the instances of the sample."""

    inputs: Sequence[Any] = ()
    sources: Sequence[str] = ()


@dataclass(frozen=True)
class Given:
    """What came of it. answers: one per changed input. decided: per changed validator, how many instances it
    answers otherwise than the label."""

    answers: Sequence[Solved] = ()
    decided: Sequence[int] = ()
    of: int = 0


def compared(
    reading: str, sentence: str, says: str, does: str, decides: int = 0, of: int = 0
) -> ReadingPlace:
    """Return the place whose text fixes a reading: contradicted unless the programs do the same."""
    return ReadingPlace(
        reading, sentence, says, does, "fixed" if says == does else "contradicted", decides, of
    )


def integers(answers: Sequence[Solved]) -> list[int]:
    """Return the answers if all are integers, [] if any is not."""
    found = [solved.answer for solved in answers if solved.status == "ok" and type(solved.answer) is int]
    return found if len(found) == len(answers) else []


Examiner = Generator[Wanted, Given, list[ReadingPlace]]
"""Yields at most once what it wants, and returns what it found."""
