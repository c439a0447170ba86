"""Race many variants over growing sets of formulas, which the worse half leaves at each budget level: who may
fight the champion.

Successive halving (Jamieson and Talwalkar, AISTATS 2016): a budget level's costs count with all earlier
ones', so that who is far behind is not run on everything, and who is near the top is. What is compared is
mean PAR-2 over the formulas so far; ties go to the better consensus rank. A variant that is faster than
another on every formula never leaves before it.

If the champion's costs on the race's formulas are known, a variant is stopped after any formula on which its
costs so far are more than the champion's on all of them. The rule is exact: no run costs less than nothing,
so no variant that would reach the champion on these formulas is ever stopped. What is not run saves seconds,
counted as what the champion takes for the same formulas, and variants that wait enter with them, by consensus
rank, and run what the others have run before, under the same rule.
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
    """A variant after one budget level. instances: the formulas that it ran in it. par2: over those of all
    budget levels so far. place: from 1. stopped: why it was stopped before the end of the budget level, in
    words; None if it was not."""

    rung: int
    variant_id: str
    instances: tuple[str, ...]
    formulas: int
    solved: float
    par2: float
    place: int
    survives: bool
    stopped: str | None = None

    def row(self, cycle: str) -> dict[str, Any]:
        """Return a row of RACES."""
        return {
            "cycle": cycle,
            **{name: getattr(self, name) for name in self.__dataclass_fields__},
            "instances": list(self.instances),
        }


def drawn_order(instances: Sequence[Instance], root_seed: int, cycle: str) -> list[Instance]:
    """Return the formulas in the order in which a race of the cycle takes them."""
    order = generator(root_seed, LINE, cycle, "race").permutation(len(instances))
    return [instances[place] for place in order.tolist()]


def costs_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return formula -> PAR-2 cost in seconds, of rows of RUNS of one variant, without runs that the clock
    cut short."""
    return {row["instance"]: _cost(row) for row in rows if row["status"] != CLOCK}


def race(
    entrants: Sequence[str],
    formulas: Sequence[Instance],
    measure: Measure,
    *,
    keep: int,
    first: int,
    champion: Mapping[str, float] | None = None,
    waiting: Sequence[str] = (),
) -> tuple[list[str], list[Standing]]:
    """Return the `keep` best, best first, and the place of each after each budget level that it ran in. Fewer
    than `keep` where the others were stopped.

    Args:
        entrants: best consensus rank first; no more than `keep`: there is no race. formulas: in the order in
            which they are taken.
        first: formulas of the first budget level; each budget level doubles how many there are so far. When
            none are left, the last budget level
        decides.
        champion: formula -> the champion's cost in seconds; a formula that it lacks counts for no variant.
            None: no variant is stopped.
        waiting: variants that enter with saved seconds, best consensus rank first.

    Raises:
        ValueError: keep or first is less than 1.
    """
    if keep < 1 or first < 1:
        raise ValueError(f"a race needs a survivor and a formula (got {keep} and {first})")
    if champion is not None:
        formulas = [item for item in formulas if item.name in champion]
    state = _RaceState(measure, champion, [item.name for item in formulas])
    rank = {name: place for place, name in enumerate([*entrants, *waiting])}
    left, queue, standings, planned, saved = list(entrants), list(waiting), [], len(entrants), 0.0
    taken, level = 0, 0
    while taken < len(formulas) and (len(left) > keep or champion is not None):
        level += 1
        before, batch = formulas[:taken], formulas[taken : first * 2 ** (level - 1)]
        stopped = dict[str, str]()
        saved += max(0, planned - len(left)) * state.price(batch)
        entered, saved = state.affordable(queue, saved, state.price(before) + state.price(batch))
        left, queue = [*left, *entered], queue[len(entered) :]
        if not left:
            break
        ran = {name: state.catch_up(name, before, stopped) if name in entered else [] for name in left}
        for name, names in state.run([name for name in left if name not in stopped], batch, stopped).items():
            ran[name] += names
        saved += sum(state.price([item for item in batch if item.name not in ran[name]]) for name in stopped)
        taken += len(batch)
        ordered = sorted(left, key=lambda name: (name in stopped, state.mean(name), rank[name]))
        going = [name for name in ordered if name not in stopped]
        planned = max(keep, math.ceil(max(planned, len(left)) / 2))
        stay = going[: keep if taken == len(formulas) else max(keep, math.ceil(len(left) / 2))]
        standings += [
            Standing(
                level,
                name,
                tuple(ran[name]),
                state.formulas(name),
                float(state.solved[name]),
                state.mean(name),
                place,
                name in stay,
                stopped.get(name),
            )
            for place, name in enumerate(ordered, start=1)
        ]
        left = stay
    return left[:keep], standings


class _RaceState:
    """Costs so far, and the champion's. A formula on which the clock cut a run short counts for no
    variant."""

    def __init__(self, measure: Measure, champion: Mapping[str, float] | None, names: Sequence[str]) -> None:
        self.measure, self.costs, self.solved = measure, dict[str, list[float]](), dict[str, int]()
        self.champion = None if champion is None else {name: champion[name] for name in names}
        self.ran: dict[str, int] = {}

    def run(
        self, names: Sequence[str], batch: Sequence[Instance], stopped: dict[str, str]
    ) -> dict[str, list[str]]:
        """Return which formulas each variant ran. If there is a champion, all run one formula after another,
        and `stopped` gets who is stopped."""
        result = {name: list[str]() for name in names}
        steps = [batch] if self.champion is None else [[item] for item in batch]
        for step in steps:
            going = [name for name in names if name not in stopped]
            if not going or not step:
                continue
            measured = self.measure(going, step)
            counting = _counting(measured)
            if self.champion is not None and not any(counting.values()):
                del self.champion[step[0].name]
            for name in going:
                result[name] += [item.name for item in step]
                self.ran[name] = self.ran.get(name, 0) + len(step)
                self.costs.setdefault(name, []).extend(_cost(row) for row in counting[name])
                self.solved[name] = self.solved.get(name, 0) + sum(
                    bool(row["solved"]) for row in counting[name]
                )
                if reason := self._hopeless(name):
                    stopped[name] = reason
        return result

    def catch_up(self, name: str, batch: Sequence[Instance], stopped: dict[str, str]) -> list[str]:
        """Return which formulas a variant ran of those that the others ran before it; `stopped` gets it where
        it cannot reach the champion, or where the clock cut a run short: what the others ran stays as it
        is."""
        ran = list[str]()
        for item in batch:
            if self.champion is None or item.name not in self.champion or name in stopped:
                continue
            kept = dict(self.champion)
            ran += self.run([name], [item], stopped)[name]
            if self.champion != kept:
                self.champion, stopped[name] = (
                    kept,
                    f"the clock cut its run on {item.name} short, which the others ran before",
                )
        return ran

    def affordable(self, queue: Sequence[str], saved: float, price: float) -> tuple[list[str], float]:
        """Return who enters with so many saved seconds, at this price each, and what is left of them."""
        count = min(len(queue), int(saved / price)) if price > 0 and self.champion is not None else 0
        return list(queue[:count]), saved - count * price

    def price(self, batch: Sequence[Instance]) -> float:
        """Return the seconds that the champion takes for these formulas."""
        return sum((self.champion or {}).get(item.name, 0.0) for item in batch)

    def mean(self, name: str) -> float:
        return float(np.mean(self.costs[name])) if self.costs.get(name) else math.inf

    def formulas(self, name: str) -> int:
        return self.ran.get(name, 0)

    def _hopeless(self, name: str) -> str | None:
        """Return why a variant cannot reach the champion any more, whatever its other runs cost."""
        if self.champion is None:
            return None
        spent, best = sum(self.costs[name]), sum(self.champion.values())
        if spent <= best:
            return None
        return (
            f"{spent:.3g} s on {len(self.costs[name])} formulas are more than the champion's {best:.3g} s "
            f"on all {len(self.champion)}"
        )


def _counting(measured: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the rows without the formulas on which the clock cut any variant's run short: they count for no
    variant."""
    cut = {row["instance"] for rows in measured.values() for row in rows if row["status"] == CLOCK}
    return {name: [row for row in rows if row["instance"] not in cut] for name, rows in measured.items()}


def _cost(row: Mapping[str, Any]) -> float:
    return float(row["cpu_s"]) if row["solved"] else PENALTY * float(row["timeout_s"])
