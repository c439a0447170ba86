"""Are formulas of one kind? By their shape: the share of clauses of each length and the clauses per variable.

Formulas of one kind are those that a chain of similar ones connects (single linkage). What is similar was
chosen by hand: clause lengths that differ in at most a quarter of all clauses, and clauses per variable
within a factor of two. Solvers may still behave differently on formulas of one shape.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evolake.reading.formula import Formula

LENGTHS = 8
"""Clauses of this length and longer count together."""
APART, FACTOR = 0.25, 2.0


@dataclass(frozen=True)
class Shape:
    """variables, clauses: how many. lengths: share of clauses with 1, 2, ..., `LENGTHS` and more literals."""

    variables: int
    clauses: int
    lengths: tuple[float, ...]

    def like(self, other: Shape) -> bool:
        """Return whether two formulas are similar."""
        apart = sum(abs(a - b) for a, b in zip(self.lengths, other.lengths, strict=True)) / 2
        return apart <= APART and abs(math.log(self._ratio() / other._ratio())) <= math.log(FACTOR)

    def _ratio(self) -> float:
        return max(1, self.clauses) / max(1, self.variables)


def shape_of(formula: Formula) -> Shape:
    """Return the shape of a formula."""
    lengths = np.clip(np.diff(formula.starts), 1, LENGTHS)
    counts = np.bincount(lengths, minlength=LENGTHS + 1)[1:]
    return Shape(formula.variables, len(lengths), tuple((counts / max(1, len(lengths))).tolist()))


def kinds(shapes: Sequence[Shape]) -> list[list[int]]:
    """Return the places of the formulas of each kind, the largest kind first."""
    left, result = list(range(len(shapes))), list[list[int]]()
    while left:
        group, border = [left[0]], [left.pop(0)]
        while border:
            now = border.pop()
            near = [place for place in left if shapes[now].like(shapes[place])]
            left = [place for place in left if place not in near]
            group += near
            border += near
        result.append(sorted(group))
    return sorted(result, key=len, reverse=True)


def kinds_sentence(shapes: Sequence[Shape]) -> str:
    """Return what the formulas are, in words."""
    found = kinds(shapes)

    def span(name: str, group: Sequence[int]) -> str:
        values = [int(getattr(shapes[place], name)) for place in group]
        return (
            f"{min(values):,} to {max(values):,} {name}"
            if min(values) < max(values)
            else f"{values[0]:,} {name}"
        )

    if len(found) == 1:
        return f"one kind by their shape: {span('variables', found[0])}, {span('clauses', found[0])}"
    sizes = ", ".join(str(len(group)) for group in found[:6]) + (", ..." if len(found) > 6 else "")
    return (
        f"{len(found)} kinds by their shape (of {sizes} formulas): one setting for all gains less "
        "than one for each, so put each kind into a folder"
    )
