"""What each term of a design does on each kind of formulas: its work without the term over its work with it, on the same formulas."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evolake.designs.evolution.racing import Lap, Rung

SAME = 1.15
"""Ratios within this factor of 1 are told as no difference."""


@dataclass(frozen=True)
class TermEffect:
    """What a term does on one kind of formulas. ratio: work without it over work with it, geometric mean over rungs; above 1 it helps.

    bound: "at least" if some run without the term was not solved, "at most" if some run with it was not, "about" if both.
    """

    term: str
    kind: str
    ratio: float
    bound: str = ""

    def __str__(self) -> str:
        size = f"{max(self.ratio, 1 / self.ratio):.2g}x"
        if 1 / SAME < self.ratio < SAME:
            return f"makes no difference on {self.kind} ones"
        below = {"at least": "at most ", "at most": "at least "}.get(self.bound, self.bound and f"{self.bound} ")
        said = (f"{self.bound} " if self.bound else "") if self.ratio > 1 else below
        return f"{'helps' if self.ratio > 1 else 'costs'} {self.kind} ones {said}{size}"


def term_effects(term: str, rungs: Sequence[Rung], whole: Sequence[Lap], without: Sequence[Lap]) -> list[TermEffect]:
    """Return what a term does, by kind. whole, without: laps of all rungs, each run to its end or its limit."""
    result = []
    for kind in dict.fromkeys(rung.kind.name for rung in rungs):
        pairs = [(own, other) for rung, own, other in zip(rungs, whole, without, strict=True) if rung.kind.name == kind]
        logs = [math.log(_counted(other) / _counted(own)) for own, other in pairs]
        cut = any(not own.solved for own, _ in pairs), any(not other.solved for _, other in pairs)
        bound = {(True, True): "about", (False, True): "at least", (True, False): "at most", (False, False): ""}[cut]
        result.append(TermEffect(term, kind, math.exp(sum(logs) / len(logs)), bound))
    return result


def effects_sentence(effects: Sequence[TermEffect]) -> str:
    """Return what a term does in a sentence."""
    return f"{effects[0].term}: {', '.join(map(str, effects))}"


def _counted(lap: Lap) -> float:
    """Work of a run: its median if it was solved, else what it ran, for no more is known."""
    return max(1.0, lap.median_work if lap.solved else lap.steps_run * lap.per_step)
