"""Which loop computes what: the order of passes of one step.

A step is a row of passes over the variables (odd times -1, 1, 3, ...) and over the clauses (even times 0, 2,
...). A sum over clauses, a reduction, and a value that clauses gather are complete only when their pass is;
loops that use them come later. The two *final* passes move the state: first the variables, then the memories
of the clauses. The final pass over clauses of one step is the pass 0 of the next, so that literals are
gathered once a step for both the check and the gradients; nothing gathers in a final pass, such values are
stored by an earlier one.

What a later pass needs of an earlier one is computed again when that is cheap, else kept in a temporary
array.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from evolake.designs.compiler.expression import Expression, Inexpressible

FINAL = 1_000_000
_ALWAYS = -2
_CHEAP = 4.0
_COSTS = {
    "div": 3.0,
    "sqrt": 3.0,
    "exp": 12.0,
    "log": 12.0,
    "log1p": 14.0,
    "expm1": 14.0,
    "sigmoid": 14.0,
    "tanh": 14.0,
    "pow": 40.0,
}
_LEAVES = frozenset({"literal", "slot", "external", "state", "index", "sign"})
_MOST_PASSES = 64
_MOST_EXPRESSIONS = 6_000


@dataclass
class Pass:
    """One loop. `stores`: values kept in temporary arrays; `reductions` and `scatters` completed here."""

    time: int
    stores: list[Expression] = field(default_factory=list)
    reductions: list[Expression] = field(default_factory=list)
    scatters: list[Expression] = field(default_factory=list)


@dataclass(frozen=True)
class KernelPlan:
    """The passes by time and what they share.

    moves: the next value of every cell of the states that move. states: (loop, number of cells) of all
    states, read-only ones included; externals are scalars an instance that are read from outside. stored: the
    expressions that live in temporary arrays.
    """

    passes: dict[int, Pass]
    moves: dict[str, list[Expression]]
    states: dict[str, tuple[str, int]]
    externals: tuple[Expression, ...]
    stored: tuple[Expression, ...]
    scatters: tuple[Expression, ...]
    reductions: tuple[Expression, ...]
    slots: tuple[Expression, ...]
    kept: dict[int, frozenset[int]]
    """For each time, the serials of expressions that are read from their temporary array there."""
    texts: dict[tuple[object, ...], str] = field(default_factory=dict, compare=False, repr=False)
    """LLVM text by what it was asked with, so that a design that runs at many sizes is written once."""


class _Planner:
    def __init__(
        self, moves: dict[str, list[Expression]], states: dict[str, tuple[str, int]], *, bounded: bool = True
    ):
        self.moves, self.states = moves, states
        self.reachable = reachable([cell for cells in moves.values() for cell in cells])
        if bounded and len(self.reachable) > _MOST_EXPRESSIONS:
            raise Inexpressible("too many operations to compile")
        self.times: dict[int, int] = {}
        for expression in self.reachable:
            self.times[expression.serial] = self._time(expression)
        if bounded and max(self.times.values(), default=0) > _MOST_PASSES:
            raise Inexpressible("too many passes a step")
        self.passes: dict[int, Pass] = {}
        self.stored: dict[int, Expression] = {}
        self.kept: dict[int, set[int]] = {}
        self.visited: set[tuple[int, int]] = set()
        self.regular: set[int] = set()

    def _time(self, expression: Expression) -> int:
        """When a loop expression is computed; when a scalar is ready; when a scatter's sums can be read."""
        if expression.operator in _LEAVES:
            return _ALWAYS
        times = [self.times[arg.serial] for arg in expression.args]
        if expression.operator == "reduce":
            return self._at_least(times[0], expression.data[1]) + 1
        if expression.operator == "scatter":
            return self._at_least(max(times), "M") + 1
        if expression.operator == "gather":
            return self._at_least(times[0] + 1 if times[0] > _ALWAYS else _ALWAYS, "M")
        if expression.domain == "S":
            return max(times)
        return self._at_least(max(times), expression.domain)

    @staticmethod
    def _at_least(time: int, loop: str) -> int:
        """Return the first pass over `loop` at `time` or later."""
        first = max(time, 0 if loop == "M" else -1)
        return first if first % 2 == (0 if loop == "M" else 1) else first + 1

    def plan(self) -> KernelPlan:
        for expression in self.reachable:
            if expression.operator == "reduce":
                time = self._at_least(self.times[expression.args[0].serial], expression.data[1])
                self._pass(time).reductions.append(expression)
                self._demand(expression.args[0], time)
            elif expression.operator == "scatter":
                time = self.times[expression.serial] - 1
                self._pass(time).scatters.append(expression)
                for value in expression.args[1::2]:
                    self._demand(value, time)
            elif expression.operator == "gather" and expression.args[0].operator not in _LEAVES:
                self._store_if_computed(expression.args[0])
        self.regular = {serial for serial, _ in self.visited}
        for cells in self.moves.values():
            for cell in cells:
                self._demand(cell, FINAL)
        return KernelPlan(
            dict(sorted(self.passes.items())),
            self.moves,
            self.states,
            tuple(item for item in self.reachable if item.operator == "external"),
            tuple(self.stored.values()),
            tuple(item for item in self.reachable if item.operator == "scatter"),
            tuple(item for item in self.reachable if item.operator == "reduce"),
            tuple(item for item in self.reachable if item.operator == "slot"),
            {time: frozenset(items) for time, items in self.kept.items()},
        )

    def _pass(self, time: int) -> Pass:
        return self.passes.setdefault(time, Pass(time))

    def _store(self, expression: Expression) -> None:
        """Keep a loop value in its own array, from the pass that computes it."""
        if expression.serial in self.stored or expression.domain == "S":
            return
        self.stored[expression.serial] = expression
        time = self._at_least(self.times[expression.serial], expression.domain)
        self._pass(time).stores.append(expression)
        self._demand(expression, time)

    def _demand(self, expression: Expression, time: int) -> None:
        """Make `expression` available in the pass at `time`, there or from an array."""
        if (
            expression.domain == "S"
            or expression.operator in _LEAVES
            or (expression.serial, time) in self.visited
        ):
            return
        self.visited.add((expression.serial, time))
        if expression.operator == "scatter":
            return
        own = self.times[expression.serial]
        if own != time and (expression.serial in self.stored or not self._again(expression, time)):
            self._store(expression)
            self.kept.setdefault(time, set()).add(expression.serial)
            return
        if expression.operator == "gather":
            self._store_if_computed(expression.args[0])
            return
        for arg in expression.args:
            self._demand(arg, time)

    def _store_if_computed(self, source: Expression) -> None:
        if source.operator not in _LEAVES and source.operator != "scatter":
            self._store(source)

    def _again(self, expression: Expression, time: int) -> bool:
        """Return whether to compute an earlier pass's value in place instead of reading it from an array."""
        if expression.operator == "gather":
            return False
        if time == FINAL and expression.serial not in self.regular:
            return True
        return self._left(expression, _CHEAP) >= 0

    def _left(self, expression: Expression, budget: float) -> float:
        """Return what is left of `budget` after computing an expression again; below zero as soon as it is
        spent."""
        if (
            expression.operator in _LEAVES
            or expression.domain == "S"
            or expression.operator == "scatter"
            or expression.serial in self.stored
        ):
            return budget
        if expression.operator == "gather":
            return -1.0
        budget -= _COSTS.get(expression.operator, 1.0)
        for arg in expression.args:
            if budget < 0:
                break
            budget = self._left(arg, budget)
        return budget


def reachable(roots: Iterable[Expression]) -> list[Expression]:
    """Return every expression below the roots, operands first."""
    ordered: list[Expression] = []
    seen: set[int] = set()
    stack = [(root, False) for root in roots]
    while stack:
        expression, done = stack.pop()
        if done:
            ordered.append(expression)
        elif expression.serial not in seen:
            seen.add(expression.serial)
            stack.append((expression, True))
            stack.extend((arg, False) for arg in reversed(expression.args))
    return ordered


def computed(
    moves: dict[str, list[Expression]], states: dict[str, tuple[str, int]]
) -> tuple[list[Expression], list[str]]:
    """Return what a step computes, an expression as often as loops compute it again; and the loops ("N" or
    "M") of its regular passes, however many."""
    planner = _Planner(moves, states, bounded=False)
    plan = planner.plan()
    by_serial = {item.serial: item for item in planner.reachable}
    items = [
        by_serial[serial] for serial, time in planner.visited if serial not in planner.kept.get(time, ())
    ]
    items += [
        item for item in planner.reachable if item.operator in ("scatter", "reduce") or item.domain == "S"
    ]
    return [item for item in items if item.operator != "scatter"] + list(plan.scatters), [
        "M" if time % 2 == 0 else "N" for time in plan.passes
    ]


def make_plan(moves: dict[str, list[Expression]], states: dict[str, tuple[str, int]]) -> KernelPlan:
    """Return the passes of a step that gives every cell of `moves` its next value. Raises Inexpressible for a
    design that needs too many."""
    return _Planner(moves, states).plan()
