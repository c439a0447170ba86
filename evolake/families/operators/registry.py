"""The evolution operators, by name. Six make one child of their parents, or say that these parents do not
allow it (NotComposable); the worlds make a family that has no parent.

    switch     another alternative of a rule          aggregate  several instances, one question about all answers
    pipe       an answer becomes a number             invert     which number makes the answer so
    guard      an answer decides a rule               filter     only elements that meet a condition

    constraint_world   what follows from a few statements about an arrangement
    process_world      what a run by a few rules comes to
    puzzle_world       a puzzle of one of several engines: routes, schedules, pictures, numbers, rewriting,
                       games, urns, liars, fields, and plans, chains and choices, of which many are correct

The same parents and the same random numbers give the same child. A child declares its parents' rules, ports
and lists again as far as they still hold, so children are parents like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from evolake.families.model.ast_transforms import NotComposable
from evolake.families.model.contract import Family
from evolake.families.operators.aggregate import aggregate
from evolake.families.operators.filter import constrain
from evolake.families.operators.guard import guard
from evolake.families.operators.invert import invert
from evolake.families.operators.novelty import depth
from evolake.families.operators.pipe import pipe
from evolake.families.operators.switch import switch_rule
from evolake.families.operators.worlds import draw_constraint_world, draw_process_world, draw_puzzle_world

Operator = Callable[[Sequence[Family], np.random.Generator], Family]
COMPOSING: Mapping[str, Operator] = MappingProxyType(
    {
        "switch": switch_rule,
        "pipe": pipe,
        "guard": guard,
        "aggregate": aggregate,
        "invert": invert,
        "filter": constrain,
    }
)
WORLDS: Mapping[str, Operator] = MappingProxyType(
    {
        "constraint_world": draw_constraint_world,
        "process_world": draw_process_world,
        "puzzle_world": draw_puzzle_world,
    }
)
"""Operators that take no parent."""
WORLD_TURNS = ("puzzle_world", "constraint_world", "puzzle_world", "process_world", "puzzle_world")
"""The order in which attempts draw a world: puzzles have more engines than the others together, and those
that ask for something to be made."""
OPERATORS: Mapping[str, Operator] = MappingProxyType({**COMPOSING, **WORLDS})
SLACK = 1e-9
"""So that shares like 0.1 + 0.2 count as what they mean."""
OF_TWO = frozenset({"pipe", "guard"})
"""Operators that take two parents, of one language."""


def turn(number: int, *, start: int = 0, share: float = 0.0) -> str:
    """Return the operator whose turn the attempt `number` is: a share of the attempts draw a world, the
    others compose, beginning with number `start`.
    """
    worlds = int(number * share + SLACK)
    if int((number + 1) * share + SLACK) > worlds:
        return WORLD_TURNS[worlds % len(WORLD_TURNS)]
    return list(COMPOSING)[(start + number - worlds) % len(COMPOSING)]


def child_of(
    name: str, parents: Sequence[Family], random: np.random.Generator, *, deepest: int | None = None
) -> Family:
    """Return one child by the operator, of the first of these parents, in drawn order, that allow it.

    deepest: compositions that may be inside one another in a child; None: any number.

    Raises NotComposable: none of them does.
    """
    if name in WORLDS:
        return OPERATORS[name]([], random)
    order = [parents[place] for place in random.permutation(len(parents)).tolist()]
    reason = "no second parent of the same language"
    for number, first in enumerate(order):
        others = [
            [first, second]
            for second in order[number + 1 :] + order[:number]
            if second.language == first.language
        ]
        for chosen in others if name in OF_TWO else [[first]]:
            try:
                child = OPERATORS[name](chosen, random)
            except NotComposable as error:
                reason = str(error)
                continue
            if deepest is None or name == "switch" or depth(child) <= deepest:
                return child
            reason = f"a child of more than {deepest} compositions inside one another"
    raise NotComposable(reason)
