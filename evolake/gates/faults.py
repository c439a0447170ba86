"""Whether blocks by what judging raised look like a fault of ours.

One candidate that makes our code raise is news about that candidate (see `boundary`). Candidates have little
in common but the code that judges them, so several that raise at one place, or as one class of error, or a
large share of a cycle, are more likely news about the code. Then a person has to look; nothing is stopped,
for a strange candidate can do the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evolake.gates.boundary import Raised, read_reason

FEWEST = 2
"""Candidates that raise alike before somebody has to look."""
SHARE = 0.2
"""Of a cycle's candidates, whatever they raised; more than this."""


@dataclass(frozen=True)
class Judged:
    """One candidate at one gate. reason: why it was blocked there, None or "" where it was not."""

    candidate: str
    gate: str
    reason: str | None


@dataclass(frozen=True)
class Place:
    """What was raised at one place of ours. raised: the first of its kind. candidates, gates: in order, none
    twice."""

    raised: Raised
    candidates: tuple[str, ...]
    gates: tuple[str, ...]


@dataclass(frozen=True)
class Faults:
    """What judging raised in a cycle. candidates: all that were judged. places: those that most candidates
    met first."""

    candidates: int
    raised: int
    places: tuple[Place, ...]

    @property
    def share(self) -> float:
        """Of the candidates, those whose judging raised; 0 if there are none."""
        return self.raised / self.candidates if self.candidates else 0.0


def find_faults(judged: Iterable[Judged]) -> Faults:
    """Return everything that judging raised, by class and place."""
    everyone: set[str] = set()
    matches: dict[tuple[str, str], list[tuple[Judged, Raised]]] = {}
    for item in judged:
        everyone.add(item.candidate)
        if raised := read_reason(item.reason):
            matches.setdefault((raised.place, raised.error), []).append((item, raised))
    places = [
        Place(
            met[0][1],
            tuple(sorted({item.candidate for item, _ in met})),
            tuple(sorted({item.gate for item, _ in met})),
        )
        for met in matches.values()
    ]
    raising = {candidate for place in places for candidate in place.candidates}
    places.sort(key=lambda place: (-len(place.candidates), place.raised.place, place.raised.error))
    return Faults(len(everyone), len(raising), tuple(places))


def suspicion(faults: Faults) -> str:
    """Return why these look like a fault of ours, one line; "" where they do not."""
    why = [
        f"{len(who)} of them at {place}"
        for place, who in _alike(faults, "place").items()
        if place != "unknown"
    ]
    why += [f"{len(who)} of them with {error}" for error, who in _alike(faults, "error").items()]
    if not why and faults.share <= SHARE:
        return ""
    return f"judging {faults.raised} of {faults.candidates} candidates raised an error" + "".join(
        f", {item}" for item in why
    )


def _alike(faults: Faults, key: str) -> dict[str, set[str]]:
    """Places, or classes of errors, that at least FEWEST candidates met -> who met them."""
    groups: dict[str, set[str]] = {}
    for place in faults.places:
        groups.setdefault(getattr(place.raised, key), set()).update(place.candidates)
    return {name: who for name, who in groups.items() if len(who) >= FEWEST}
