"""Genetic operators on objective programs (genetic programming as in Koza 1992, with strong typing as in
Montana 1995).

    draw        a program at random            point       another operator of the same kind, or another name, at a place
    subtree     a place becomes something new  hoist       a place becomes one of its operands
    constants   some literals, each on its own scale
    insert      a number becomes itself plus, minus, times, or at most/at least something new
    crossover   a place becomes what a second parent has at a place of that kind

Parents are likelier the more they weigh in the consensus and the less the objective next to them agrees with
them: what others do not say already, said by one that is listened to. Every child is typed, canonical, turned
so that fewer steps are better, and ranks made-up designs otherwise than every program that is known.

Random expressions of a wanted kind. What designs are compared by most, the logarithm of their steps, is
drawn most.

What a program does on made-up designs: which way it ranks them, whether it distinguishes them, and which
programs rank them alike.

The designs are fixed and owe nothing to a lake: ladders of sizes with steps that grow in different ways, each
run up to where it fails. Each has a slower twin, whose steps also grow faster and which fails sooner. A
program that mostly prefers the twins is turned round; that decides nothing about its worth, only that "lower
is better" holds for it as for the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from evolake.objectives.families.levels import budget
from evolake.objectives.programs.expression import (
    AGGREGATES,
    ARITHMETIC,
    CHOICE,
    FUNCTIONS,
    LEVEL_NAMES,
    NUMBER_NAMES,
    SETTINGS,
    Expression,
    Kind,
    canonical,
    is_program,
    kind_of,
    literals,
    places,
    replaced,
    rounded,
    size,
    value,
)

LOG_STEPS: Expression = ("log", "steps")
LOGGED = ("n", "steps", "limit", "budget", "reach", "top")
"""Names of what lies orders of magnitude apart: mostly read as logarithms."""


class Drawing:
    """Draws by one generator."""

    def __init__(self, random: np.random.Generator):
        self.random = random

    def expression(self, kind: Kind, depth: int) -> Expression:
        """Return an expression of this kind of at most so many operators below each other, a few leaves' own
        not counted."""
        return self.number(depth) if kind == "number" else self.level(depth)

    def number(self, depth: int) -> Expression:
        """Return one value for the design: an aggregate at the leaves, arithmetic above."""
        if depth <= 0 or self.random.random() < 0.3:
            return self.leaf(NUMBER_NAMES) if self.random.random() < 0.15 else self.aggregate(depth - 1)
        if self.random.random() < 0.2:
            return (self.pick(FUNCTIONS), self.number(depth - 1))
        second = self.literal() if self.random.random() < 0.3 else self.number(depth - 1)
        return (self.pick(ARITHMETIC), self.number(depth - 1), second)

    def level(self, depth: int) -> Expression:
        """Return a value for each size."""
        if depth <= 0 or self.random.random() < 0.3:
            return LOG_STEPS if self.random.random() < 0.5 else self.leaf(LEVEL_NAMES)
        chance = self.random.random()
        if chance < 0.25:
            return (self.pick(FUNCTIONS), self.level(depth - 1))
        if chance < 0.4:
            return (CHOICE, self.level(depth - 1), self.level(depth - 1))
        second = self.literal() if self.random.random() < 0.3 else self.level(depth - 1)
        return (self.pick(ARITHMETIC), self.level(depth - 1), second)

    def aggregate(self, depth: int) -> Expression:
        """Return one value of what is taken at each size."""
        name = self.pick((*AGGREGATES, *SETTINGS))
        inner = self.level(depth)
        return (name, self.setting(name), inner) if name in SETTINGS else (name, inner)

    def leaf(self, names: tuple[str, ...]) -> Expression:
        """Return a name, as a logarithm where its values are orders of magnitude apart."""
        name = self.pick(names)
        return ("log", name) if name in LOGGED and self.random.random() < 0.85 else name

    def literal(self) -> float:
        """Return a factor or a summand, around 1."""
        return rounded(float(np.exp(self.random.normal(0.0, 1.0))))

    def setting(self, name: str) -> float | int:
        """Return a setting of an aggregate, within its bounds."""
        bounds = SETTINGS[name]
        drawn = self.random.uniform(bounds.low, bounds.high)
        return (
            int(self.random.integers(int(bounds.low), int(bounds.high) + 1))
            if bounds.whole
            else rounded(drawn)
        )

    def pick(self, names: tuple[str, ...]) -> str:
        """Return one of the names, each as likely."""
        return names[int(self.random.integers(len(names)))]


DESIGNS = 24
SIZES = (10, 14, 20, 28, 40, 57, 80, 113, 160, 226, 320, 453, 640)
STEEPER = 0.4
"""What a twin's exponent of growth is above that of its design."""
LEANING = 4
DISTINCT = 0.5
GOLDEN = (0.6180339887, 0.4142135623, 0.7320508075, 0.2360679774)
Ranking = tuple[int, ...]


def turned(program: Expression) -> tuple[Expression, Ranking] | None:
    """Return the program in canonical form, turned so that fewer steps are better, and how it ranks the
    made-up designs.

    None where it prefers hardly either, gives fewer than half of the designs their own value, or has grown
    too large.
    """
    form = canonical(program)
    if not is_program(form):
        return None
    scores = _scores(form)
    leaning = sum(
        (slow > fast) - (slow < fast) for fast, slow in zip(scores, _scores(form, STEEPER), strict=True)
    )
    if abs(leaning) < LEANING or len(set(scores)) < DISTINCT * DESIGNS:
        return None
    if leaning > 0:
        return form, _ranking(scores)
    other = canonical(("neg", form))
    return (other, _ranking(_scores(other))) if is_program(other) else None


def ranking(program: Expression) -> Ranking:
    """Return dense ranks of the made-up designs; programs that rank them alike have equal ones."""
    return _ranking(_scores(program))


def _scores(program: Expression, steeper: float = 0.0) -> list[float]:
    return [float(f"{value(program, rows):.9g}") for rows in made_up_designs(steeper)]


def _ranking(scores: list[float]) -> Ranking:
    places = {score: place for place, score in enumerate(sorted(set(scores)))}
    return tuple(places[score] for score in scores)


@cache
def made_up_designs(steeper: float = 0.0) -> tuple[tuple[dict[str, Any], ...], ...]:
    """Return results of the designs, or of twins whose exponent of growth is larger by `steeper`."""
    return tuple(_ladder(number, steeper) for number in range(DESIGNS))


def _ladder(number: int, steeper: float) -> tuple[dict[str, Any], ...]:
    offset, exponent, curve, phase = (math.modf((number + 1) * irrational)[0] for irrational in GOLDEN)
    rows: list[dict[str, Any]] = []
    for place, n in enumerate(SIZES):
        x = math.log(n / 10)
        wobble = 0.25 * math.sin(7.0 * phase + 2.3 * place)
        steps = math.exp(
            2.3
            + offset
            + (0.8 + 1.6 * exponent + steeper) * x
            + 0.3 * curve * max(x - 1.5, 0.0) ** 2
            + wobble
        )
        limit = budget(n)
        solved = steps <= limit
        rows.append(
            {
                "N": n,
                "median_step": round(steps),
                "unsolved_fraction": 0.49 if solved else min(0.5 + 0.2 * math.log(steps / limit), 1.0),
                "max_steps": int(limit),
                "batch": 100,
            }
        )
        if not solved:
            break
    return tuple(rows)


OPERATOR_ODDS: Mapping[str, float] = {
    "draw": 0.1,
    "point": 0.1,
    "subtree": 0.15,
    "hoist": 0.05,
    "constants": 0.1,
    "insert": 0.2,
    "crossover": 0.3,
}
OPERATORS = tuple(OPERATOR_ODDS)
TRIES = 80
DEPTH = 3
LIKELY = 4.0
FLOOR = 0.05
"""What every parent has of weight and of disagreement: nobody is left out, and no single one has all the
children."""


@dataclass(frozen=True)
class Parent:
    """A program that may be used as a parent.

    weight: share in the consensus, 0 to 1. nearest_tau: of the objective that agrees with it most; None where
    it is not known. wanted: asked for.
    """

    objective_id: str
    program: Expression
    weight: float = 0.0
    nearest_tau: float | None = None
    wanted: bool = False


@dataclass(frozen=True)
class Child:
    """A new program, what made it, and the share of each parent in it; no parents for one that was drawn."""

    program: Expression
    operator: str
    weights: tuple[tuple[str, float], ...]
    ranking: Ranking


def propose(
    parents: Sequence[Parent],
    taken: Collection[Ranking],
    random: np.random.Generator,
    *,
    start: Expression | None = None,
    operators: Sequence[str] = (),
) -> Child | None:
    """Return a child of the parents, or a drawn one if there are none; None where all tries fail.

    Args:
        taken: how known programs rank the made-up designs. start: what "draw" varies in place of beginning
            with nothing.
        operators: which to use; none named means all by their odds.
    """
    names = list(operators) or list(OPERATORS)
    odds = np.array([OPERATOR_ODDS[name] for name in names])
    for _ in range(TRIES):
        name = names[int(random.choice(len(names), p=odds / odds.sum()))] if parents else "draw"
        chosen = None if name == "draw" else chosen_parent(parents, random)
        made = _drawn(start, random) if chosen is None else _made(name, chosen, parents, random)
        if made is None or not is_program(made[0]):
            continue
        result = turned(made[0])
        if result is not None and result[1] not in taken and (chosen is None or result[0] != chosen.program):
            return Child(result[0], name, made[1], result[1])
    return None


def chosen_parent(parents: Sequence[Parent], random: np.random.Generator) -> Parent:
    """Return one of the parents, by weight and by how little the nearest objective agrees with it; four times
    as likely where it is wanted."""
    odds = np.array([preference(parent) for parent in parents])
    return parents[int(random.choice(len(parents), p=odds / odds.sum()))]


def preference(parent: Parent) -> float:
    """Return odds of a parent: its weight times 1 - tau with its nearest (1 where that is below 0 or not
    known), with a floor under both."""
    apart = 1.0 if parent.nearest_tau is None else min(1.0 - parent.nearest_tau, 1.0)
    return (FLOOR + parent.weight) * (FLOOR + apart) * (LIKELY if parent.wanted else 1.0)


Made = tuple[Expression, tuple[tuple[str, float], ...]]


def _drawn(start: Expression | None, random: np.random.Generator) -> Made:
    drawn = Drawing(random).number(DEPTH) if start is None else _subtree(start, random)
    return drawn, ()


def _made(name: str, first: Parent, parents: Sequence[Parent], random: np.random.Generator) -> Made | None:
    if name == "crossover":
        others = [other for other in parents if other.objective_id != first.objective_id]
        return _crossed(first, chosen_parent(others, random), random) if others else None
    change = MUTATIONS[name](first.program, random)
    return None if change is None else (change, ((first.objective_id, 1.0),))


def _crossed(first: Parent, donor: Parent, random: np.random.Generator) -> Made | None:
    path, held = _place(first.program, random)
    alike = [result for _, result in places(donor.program) if kind_of(result) == kind_of(held)]
    if not alike:
        return None
    given = alike[int(random.integers(len(alike)))]
    made = replaced(first.program, path, given)
    share = min(size(given) / size(made), 1.0)
    weights = ((first.objective_id, 1.0 - share), (donor.objective_id, share))
    return made, tuple((name, weight) for name, weight in weights if weight > 0)


def _subtree(program: Expression, random: np.random.Generator) -> Expression:
    path, held = _place(program, random)
    return replaced(program, path, Drawing(random).expression(kind_of(held), int(random.integers(1, DEPTH))))


def _insert(program: Expression, random: np.random.Generator) -> Expression:
    result = [(path, held) for path, held in places(program) if kind_of(held) == "number"]
    path, held = result[int(random.integers(len(result)))]
    drawing = Drawing(random)
    new = ("mul", drawing.literal(), drawing.number(1)) if random.random() < 0.7 else drawing.number(1)
    return replaced(
        program, path, (drawing.pick(("add", "sub", "add", "sub", "mul", "min", "max")), held, new)
    )


def _point(program: Expression, random: np.random.Generator) -> Expression | None:
    path, held = _place(program, random)
    head = held[0] if isinstance(held, tuple) else held
    group = next((names for names in (FUNCTIONS, ARITHMETIC, LEVEL_NAMES, NUMBER_NAMES) if head in names), ())
    others = tuple(name for name in group if name != head)
    if not others:
        return None
    other = Drawing(random).pick(others)
    return replaced(program, path, (other, *held[1:]) if isinstance(held, tuple) else other)


def _hoist(program: Expression, random: np.random.Generator) -> Expression | None:
    path, held = _place(program, random)
    inner = [result for below, result in places(held) if below and kind_of(result) == kind_of(held)]
    return replaced(program, path, inner[int(random.integers(len(inner)))]) if inner else None


def _constants(program: Expression, random: np.random.Generator) -> Expression | None:
    result = list(literals(program))
    if not result:
        return None
    first = int(random.integers(len(result)))
    for number, (path, held, setting) in enumerate(result):
        if number != first and random.random() > 0.3:
            continue
        if setting is None:
            moved = rounded(held * float(np.exp(random.normal(0.0, 0.5))))
        else:
            stepped = held + random.normal(0.0, 0.15 * (setting.high - setting.low))
            within = float(np.clip(stepped, setting.low, setting.high))
            moved = round(within) if setting.whole else rounded(within)
        program = replaced(program, path, moved)
    return program


def _place(program: Expression, random: np.random.Generator) -> tuple[tuple[int, ...], Expression]:
    result = list(places(program))
    return result[int(random.integers(len(result)))]


MUTATIONS: Mapping[str, Callable[[Expression, np.random.Generator], Expression | None]] = {
    "point": _point,
    "subtree": _subtree,
    "hoist": _hoist,
    "constants": _constants,
    "insert": _insert,
}
