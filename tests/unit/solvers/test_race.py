"""Races: who is best on every formula is never dropped, whatever the sizes; the same key gives the same race; rows say what was run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolake.solvers.measurement.race import drawn_order, race
from evolake.solvers.suites import Instance
from evolake.solvers.tables import RACES

FORMULAS = [Instance(f"f{number}", "x", "SAT", f"{number:064d}") for number in range(40)]
LIMIT = 10.0


class Clock:
    """Measures by a table of costs, and counts what it is asked; a cost above the limit is a timeout."""

    def __init__(self, costs: Mapping[str, Sequence[float]]):
        self.costs, self.asked = costs, []

    def __call__(self, names: Sequence[str], batch: Sequence[Instance]) -> dict[str, list[dict[str, Any]]]:
        self.asked += [(name, item.name) for name in names for item in batch]
        return {name: [self._row(name, item.name) for item in batch] for name in names}

    def _row(self, name: str, formula: str) -> dict[str, Any]:
        cost = self.costs[name][int(formula[1:])]
        status = "clock" if math.isnan(cost) else "sat" if cost <= LIMIT else "timeout"
        return {"instance": formula, "status": status, "solved": status == "sat", "cpu_s": min(cost, LIMIT), "timeout_s": LIMIT}


def test_a_race_by_hand() -> None:
    clock = Clock({"a": [4.0] * 6, "b": [1.0, 9.0, 9.0, 1.0, 1.0, 1.0], "c": [2.0] * 6, "d": [99.0] * 6})
    survivors, standings = race(["a", "b", "c", "d"], FORMULAS[:6], clock, keep=1, first=1)
    assert survivors == ["c"]
    assert [(item.rung, item.variant_id, item.instances, item.formulas, item.solved, item.par2, item.place, item.survives) for item in standings] == [
        (1, "b", ("f0",), 1, 1.0, 1.0, 1, True), (1, "c", ("f0",), 1, 1.0, 2.0, 2, True), (1, "a", ("f0",), 1, 1.0, 4.0, 3, False),
        (1, "d", ("f0",), 1, 0.0, 20.0, 4, False),
        (2, "c", ("f1",), 2, 2.0, 2.0, 1, True), (2, "b", ("f1",), 2, 2.0, 5.0, 2, False),
    ]
    assert len(clock.asked) == 6
    RACES.frame([standing.row("0001") for standing in standings])


def test_a_formula_on_which_the_clock_cut_a_run_short_counts_for_no_variant() -> None:
    clock = Clock({"a": [1.0, math.nan], "b": [2.0, 0.1], "c": [3.0, 0.1]})
    survivors, standings = race(["a", "b", "c"], FORMULAS[:2], clock, keep=1, first=2)
    assert survivors == ["a"]
    assert [(item.variant_id, item.solved, item.par2) for item in standings] == [("a", 1.0, 1.0), ("b", 1.0, 2.0), ("c", 1.0, 3.0)]
    survivors, _ = race(["b", "a"], FORMULAS[:1], Clock({"a": [math.nan], "b": [math.nan]}), keep=1, first=1)
    assert survivors == ["b"], "without any result the consensus rank decides"


def test_no_race_where_no_more_run_than_may_stay() -> None:
    clock = Clock({})
    assert race(["a", "b"], FORMULAS, clock, keep=2, first=3) == (["a", "b"], []) and clock.asked == []
    with pytest.raises(ValueError, match="a race needs"):
        race(["a", "b"], FORMULAS, clock, keep=0, first=3)


COSTS = st.lists(st.lists(st.floats(0.01, 25), min_size=40, max_size=40), min_size=1, max_size=9)
SIZES = {"keep": st.integers(1, 4), "first": st.integers(1, 12), "count": st.integers(1, 40)}


@settings(max_examples=120, deadline=None)
@given(costs=COSTS, place=st.integers(0, 9), **SIZES)
def test_who_is_faster_on_every_formula_is_never_dropped(
    costs: list[list[float]], place: int, keep: int, first: int, count: int
) -> None:
    rows = [list(row) for row in costs]
    best = [min(min(column) * 0.5, LIMIT * 0.9) for column in zip(*rows, strict=True)]  # who is faster past the limit, no race can see
    rows.insert(min(place, len(rows)), best)
    table = {f"v{number}": row for number, row in enumerate(rows)}
    winner = f"v{min(place, len(costs))}"
    survivors, standings = race(list(table), FORMULAS[:count], Clock(table), keep=keep, first=first)
    assert winner in survivors
    assert all(standing.place == 1 for standing in standings if standing.variant_id == winner)


@settings(max_examples=80, deadline=None)
@given(costs=COSTS, **SIZES)
def test_a_race_repeats_itself_halves_and_asks_for_no_formula_twice(costs: list[list[float]], keep: int, first: int, count: int) -> None:
    table = {f"v{number}": row for number, row in enumerate(costs)}
    clock, again = Clock(table), Clock(table)
    survivors, standings = race(list(table), FORMULAS[:count], clock, keep=keep, first=first)
    assert (survivors, standings) == race(list(table), FORMULAS[:count], again, keep=keep, first=first)
    assert len(survivors) == min(keep, len(table)) and len(set(clock.asked)) == len(clock.asked)
    for rung in {standing.rung for standing in standings}:
        mine = [standing for standing in standings if standing.rung == rung]
        stayed = sum(item.survives for item in mine)
        assert stayed == keep or stayed == max(keep, math.ceil(len(mine) / 2))
        assert {item.variant_id for item in mine if item.survives} >= {standing.variant_id for standing in standings if standing.rung == rung + 1}


def test_the_order_of_formulas_is_drawn_by_the_cycle() -> None:
    orders = [[item.name for item in drawn_order(FORMULAS, seed, cycle)] for seed, cycle in ((0, "0001"), (0, "0001"), (0, "0002"), (1, "0001"))]
    assert orders[0] == orders[1] and len({tuple(order) for order in orders}) == 3
    assert all(sorted(order) == sorted(item.name for item in FORMULAS) for order in orders)
