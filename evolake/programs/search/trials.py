"""What a project's search has tried so far, in order. It is the only memory of the operators and is read from
rows, so that a cycle that was killed proposes what it would have proposed.

A trial is a program that was evaluated, or blocked, with its parent and the operator that created it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from evolake.programs.model.blocks import BadBlocks
from evolake.programs.model.source import Unreadable
from evolake.programs.search.numbers import Number, numbers_in, skeleton

SLIGHTLY = 1e-12


@dataclass(frozen=True)
class Trial:
    """One program that was tried.

    Attributes:
        texts: path -> text. score: None if it was blocked. operator: what created it. parent: place of its
            parent among the trials; None without one.
        twin_score: score of the living program with the same metrics, if it was blocked because of that one.
    """

    texts: Mapping[str, str]
    score: float | None
    operator: str = ""
    parent: int | None = None
    twin_score: float | None = None


@dataclass(frozen=True)
class Trials:
    """The trials of a project in order. maximize: whether a higher score is better."""

    items: Sequence[Trial]
    maximize: bool = True

    @cached_property
    def merits(self) -> list[float | None]:
        """Score of each trial with the sign that makes higher better; None of those without one."""
        sign = 1.0 if self.maximize else -1.0
        return [None if item.score is None else sign * item.score for item in self.items]

    @cached_property
    def known_merits(self) -> list[float | None]:
        """Merits, with those of trials that were blocked because of a twin.

        These count as just below the twin's, so that a number without an effect attracts no steps.
        """
        sign = 1.0 if self.maximize else -1.0
        result = list(self.merits)
        for place, item in enumerate(self.items):
            if item.twin_score is not None:
                result[place] = sign * item.twin_score - SLIGHTLY * max(1.0, abs(item.twin_score))
        return result

    def changed_nothing(self, place: int) -> bool:
        """Return whether a trial has the metrics of its parent."""
        item = self.items[place]
        return (
            item.parent is not None
            and item.twin_score is not None
            and item.twin_score == self.items[item.parent].score
        )

    @cached_property
    def best(self) -> int | None:
        """Place of the best trial, the first of equals."""
        scored = [(merit, -place) for place, merit in enumerate(self.merits) if merit is not None]
        return -max(scored)[1] if scored else None

    @cached_property
    def gains(self) -> list[float]:
        """By how much each trial improved on the best before it; 0 without an improvement and for the
        first."""
        result, best = [], None
        for merit in self.merits:
            result.append(max(merit - best, 0.0) if merit is not None and best is not None else 0.0)
            if merit is not None and (best is None or merit > best):
                best = merit
        return result

    @cached_property
    def skeletons(self) -> list[str]:
        """Skeleton of each trial; "" of those that cannot be read."""
        return [skeleton_of(tuple(item.texts.items())) for item in self.items]

    def idle(self) -> int:
        """Return how many trials have passed since the last improvement."""
        improved = [place for place, gain in enumerate(self.gains) if gain > 0]
        return len(self.items) - 1 - (improved[-1] if improved else 0)

    def changes_structure(self, place: int) -> bool:
        """Return whether a trial has another skeleton than its parent."""
        parent = self.items[place].parent
        return parent is not None and self.skeletons[place] != self.skeletons[parent]


@lru_cache(maxsize=4096)
def skeleton_of(items: tuple[tuple[str, str], ...]) -> str:
    """Return the skeleton of texts; remembered, since each proposal asks for that of every trial."""
    return skeleton(dict(items))


@lru_cache(maxsize=4096)
def values_of(items: tuple[tuple[str, str], ...]) -> tuple[Number, ...]:
    """Return the tunable numbers of texts; none of texts that cannot be read."""
    try:
        return tuple(numbers_in(dict(items)))
    except (Unreadable, BadBlocks, ValueError):
        return ()


def points_of(trials: Trials, own: str) -> tuple[list[int], np.ndarray]:
    """Return places of the trials of one skeleton, and their numbers as rows of an array."""
    places = [place for place, item in enumerate(trials.skeletons) if item == own]
    rows = [
        [number.value for number in values_of(tuple(trials.items[place].texts.items()))] for place in places
    ]
    return places, np.array(rows, dtype=float).reshape(len(places), -1)
