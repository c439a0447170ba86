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
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evolake.objectives.programs.behaviour import Ranking, turned
from evolake.objectives.programs.drawing import Drawing
from evolake.objectives.programs.expression import (
    ARITHMETIC,
    FUNCTIONS,
    LEVEL_NAMES,
    NUMBER_NAMES,
    Expression,
    is_program,
    kind_of,
    literals,
    places,
    replaced,
    rounded,
    size,
)

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
