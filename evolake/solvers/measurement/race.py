"""Who may fight the champion: a race of many variants over growing sets of formulas, which the worse half leaves at each rung.

Successive halving (Jamieson and Talwalkar, AISTATS 2016): a rung's costs count with all earlier ones', so that who is far behind is not run on
everything, and who is near the top is. What is compared is mean PAR-2 over the formulas so far; ties go to the better consensus rank. A variant that
is faster than another on every formula never leaves before it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evolake.seeds import generator
from evolake.solvers.measurement.metrics import PENALTY
from evolake.solvers.suites import Instance
from evolake.solvers.tables import CLOCK

LINE = "solvers"
Measure = Callable[[Sequence[str], Sequence[Instance]], Mapping[str, Sequence[Mapping[str, Any]]]]
"""Variants and formulas -> each variant's rows of RUNS, formula by formula."""


@dataclass(frozen=True)
class Standing:
    """A variant after one rung. instances: the rung's own formulas. par2: over those of all rungs so far. place: from 1."""

    rung: int
    variant_id: str
    instances: tuple[str, ...]
    formulas: int
    solved: float
    par2: float
    place: int
    survives: bool

    def row(self, cycle: str) -> dict[str, Any]:
        """A row of RACES."""
        return {"cycle": cycle, **{name: getattr(self, name) for name in self.__dataclass_fields__}, "instances": list(self.instances)}


def drawn_order(instances: Sequence[Instance], root_seed: int, cycle: str) -> list[Instance]:
    """The formulas in the order in which a race of the cycle takes them."""
    order = generator(root_seed, LINE, cycle, "race").permutation(len(instances))
    return [instances[place] for place in order.tolist()]


def race(
    entrants: Sequence[str], formulas: Sequence[Instance], measure: Measure, *, keep: int, first: int,
) -> tuple[list[str], list[Standing]]:
    """The `keep` best, best first, and everybody's standing after each rung that it ran in.

    Args:
        entrants: best consensus rank first; no more than `keep`: there is no race. formulas: in the order in which they are taken.
        first: formulas of the first rung; each rung doubles how many there are so far. When none are left, the last rung decides.

    Raises:
        ValueError: keep or first is less than 1.
    """
    if keep < 1 or first < 1:
        raise ValueError(f"a race needs a survivor and a formula (got {keep} and {first})")
    left, standings, costs = list(entrants), [], {name: [] for name in entrants}
    solved = dict.fromkeys(entrants, 0)
    taken, rung = 0, 0
    while len(left) > keep and taken < len(formulas):
        rung += 1
        batch = formulas[taken : first * 2 ** (rung - 1)]
        taken += len(batch)
        for name, rows in _counting(measure(left, batch)).items():
            costs[name] += [_cost(row) for row in rows]
            solved[name] += sum(bool(row["solved"]) for row in rows)
        rank = {name: place for place, name in enumerate(entrants)}
        means = {name: float(np.mean(costs[name])) if costs[name] else math.inf for name in left}
        ordered = sorted(left, key=lambda name: (means[name], rank[name]))
        stay = ordered[: keep if taken == len(formulas) else max(keep, math.ceil(len(left) / 2))]
        names = tuple(item.name for item in batch)
        standings += [
            Standing(rung, name, names, taken, float(solved[name]), means[name], place, name in stay) for place, name in enumerate(ordered, start=1)
        ]
        left = stay
    return left[:keep], standings


def _counting(measured: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the rows without the formulas on which the clock cut any variant's run short: they count for no variant."""
    cut = {row["instance"] for rows in measured.values() for row in rows if row["status"] == CLOCK}
    return {name: [row for row in rows if row["instance"] not in cut] for name, rows in measured.items()}


def _cost(row: Mapping[str, Any]) -> float:
    return float(row["cpu_s"]) if row["solved"] else PENALTY * float(row["timeout_s"])
