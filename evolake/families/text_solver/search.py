"""All assignments of values to names that fit a list of clues, by backtracking.

A clue is tested as soon as all the names in it have a value; names stand in the order in which they
complete most clues. The number of steps is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evolake.families.text_solver.language import Unreadable

MOST_STEPS = 3_000_000


@dataclass(frozen=True)
class Clue:
    """`holds` takes the values of the names in `scope`, in that order."""

    scope: tuple[str, ...]
    holds: Callable[..., bool]

    def true_in(self, values: dict[str, int]) -> bool:
        """Tell whether the clue holds in a whole assignment."""
        return self.holds(*(values[name] for name in self.scope))


def assignments(
    names: Sequence[str], domain: Sequence[int], clues: Sequence[Clue], *, distinct: bool
) -> Iterator[dict[str, int]]:
    """Yield each assignment of values of `domain` to `names` that fits all `clues`; `distinct`: no
    value twice."""
    order = _order(list(names), clues)
    due: list[list[Clue]] = [[] for _ in order]
    place = {name: index for index, name in enumerate(order)}
    for clue in clues:
        due[max((place[name] for name in clue.scope), default=0)].append(clue)
    values: dict[str, int] = {}
    budget = Budget()

    def extend(depth: int) -> Iterator[dict[str, int]]:
        if depth == len(order):
            yield {name: values[name] for name in names}
            return
        taken = set(values.values()) if distinct else ()
        for value in domain:
            if value in taken:
                continue
            budget.spend()
            values[order[depth]] = value
            if all(clue.true_in(values) for clue in due[depth]):
                yield from extend(depth + 1)
            del values[order[depth]]

    yield from extend(0)


class Budget:
    """Counts steps; `spend` raises Unreadable after `most` of them."""

    def __init__(self, most: int = MOST_STEPS):
        self.left = most

    def spend(self, steps: int = 1) -> None:
        """Take steps off what is left."""
        self.left -= steps
        if self.left < 0:
            raise Unreadable("too large to search")


def _order(names: list[str], clues: Sequence[Clue]) -> list[str]:
    order: list[str] = []
    while names:
        best = max(names, key=lambda name: _worth(name, order, clues))
        names = [name for name in names if name != best]
        order.append(best)
    return order


def _worth(name: str, order: list[str], clues: Sequence[Clue]) -> tuple[float, Any]:
    chosen = {*order, name}
    mine = [clue for clue in clues if name in clue.scope]
    whole = sum(set(clue.scope) <= chosen for clue in mine)
    return whole, sum(1 / len(clue.scope) for clue in mine)
