"""The evolution operators, by name, and which families become parents: those that few children came from
first, and of these such as are unlike each other.

Nine operators make one child of their parents, or say that these parents do not allow it (NotComposable); the
worlds draw a new kind of puzzle without a parent.

    switch     another alternative of a rule          aggregate  several instances, one question about all answers
    pipe       an answer becomes a number             invert     which number makes the answer so
    guard      an answer decides a rule               filter     only elements that meet a condition
    series     several instances, all their answers   extend     one rule more, of many right answers
    aim        those of many right answers that are near the best one

    constraint_world   what follows from a few statements about an arrangement
    process_world      what a run by a few rules comes to
    puzzle_world       a puzzle of one of several engines: routes, schedules, pictures, numbers, rewriting,
                       games, urns, liars, fields, cells, ciphers, ballots, words, networks, kinds, and plans,
                       chains, choices, signs, guards and moves, of which many are correct

The same parents and the same random numbers give the same child. A child declares its parents' rules, ports
and lists again as far as they still hold, so children are parents like any other.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from evolake.families.model.contract import Family
from evolake.families.model.similarity import Fingerprint, jaccard, normalised, sketch
from evolake.families.model.source_code import NotComposable, Unreadable, parse
from evolake.families.operators.common import check_rules, named
from evolake.families.operators.of_families import (
    aggregate,
    constrain,
    guard,
    invert,
    pipe,
    series,
    switch_rule,
)
from evolake.families.operators.of_many import aim, extend
from evolake.families.worlds.constraint_world import constraint_world
from evolake.families.worlds.liveliness import NoWorld
from evolake.families.worlds.process_world import process_world
from evolake.families.worlds.puzzle_world import puzzle_world

GENERATION_WEIGHT, GENERATIONS = 4.0, 4
"""How many times as likely a family is drawn as a parent as one with a generation less behind it, and how many
generations count: with all of them the oldest lineage would in time be the only parent."""
LOOKED_AT = 12
"""Families that are drawn, of which the parents are those most unlike each other."""


def depth(family: Family) -> int:
    """Return how many compositions are inside one another: 0 of a seed and of a drawn world, 1 of a child of
    two such."""
    return _nesting(family.generator)


def novel_parents(
    population: Sequence[Family],
    count: int,
    random: np.random.Generator,
    *,
    known: Mapping[str, Fingerprint],
    deepest: int | None = None,
    factors: Mapping[str, float] | None = None,
    constructive: bool = False,
) -> list[Family]:
    """Return `count` of the population, as many as there are: drawn with a weight that falls with the number
    of their children and grows with the generations behind them, then the unlikest.

    known: fingerprints by family_id, for those that have one. deepest: families of so many compositions
    inside one another are left out, unless there is no other. factors: family_id -> what its weight is
    multiplied with (`evolution.learnability`); 1 where it is not named. constructive: whether families with
    checkers are taken as well. With factors at most half of the families are looked at: of a few,
    all would be, whatever their weight.
    """
    used = Counter(parent for family in population for parent in family.parents)
    behind = generations({family.family_id: family.parents for family in population})
    population = [family for family in population if constructive or not family.checkers]
    fit = [family for family in population if deepest is None or depth(family) < deepest] or list(population)
    weights, looked_at = (
        np.array(
            [
                GENERATION_WEIGHT ** behind[family.family_id] / (1 + used[family.family_id]) ** 2
                for family in fit
            ]
        ),
        min(LOOKED_AT, len(fit)),
    )
    if factors:
        weights *= [factors.get(family.family_id, 1.0) for family in fit]
        looked_at = min(looked_at, max(count, len(fit) // 2))
    drawn = random.choice(
        len(fit), size=min(looked_at, len(fit)), replace=False, p=weights / weights.sum()
    ).tolist()
    sketches = {place: _sketch(fit[place], known) for place in drawn}
    chosen = drawn[:1]
    while len(chosen) < min(count, len(drawn)):
        left = [place for place in drawn if place not in chosen]
        chosen.append(
            min(left, key=lambda place: max(jaccard(sketches[place], sketches[other]) for other in chosen))
        )
    return [fit[place] for place in chosen]


def generations(parents: Mapping[str, Sequence[str]], most: int = GENERATIONS) -> dict[str, int]:
    """Return how many of these families stand one behind the other before each, `most` at most: 0 of one whose
    parents are not among them. parents: by family_id; records from outside may name any, a family itself too.
    """
    found = dict.fromkeys(parents, 0)
    for _ in range(most):
        found = {
            child: max((1 + found[parent] for parent in named_parents if parent in found), default=0)
            for child, named_parents in parents.items()
        }
    return found


def _sketch(family: Family, known: Mapping[str, Fingerprint]) -> tuple[int, ...]:
    result = known.get(family.family_id)
    return (
        result.sketch
        if result is not None
        else sketch(normalised(family.generator) + normalised(family.validator))
    )


@lru_cache(maxsize=4096)
def _nesting(source: str) -> int:
    try:
        tree = parse(source)
    except Unreadable:
        return 0
    deepest, waiting = 0, [(node, 0) for node in tree.body]
    while waiting:
        node, level = waiting.pop()
        if isinstance(node, ast.FunctionDef) and node.name.startswith("part_"):
            level += 1
            deepest = max(deepest, level)
            waiting.extend((inner, level) for inner in node.body)
    return deepest


def _drawn(world: Callable[[np.random.Generator], Family], random: np.random.Generator) -> Family:
    """Return a family without parents. Raises NotComposable if none was found, or its rules cannot be
    distinguished."""
    try:
        family = world(random)
    except NoWorld as error:
        raise NotComposable(str(error)) from None
    check_rules(family)
    return named(family)


Operator = Callable[[Sequence[Family], np.random.Generator], Family]
COMPOSING: Mapping[str, Operator] = MappingProxyType(
    {
        "switch": switch_rule,
        "pipe": pipe,
        "guard": guard,
        "aggregate": aggregate,
        "invert": invert,
        "filter": constrain,
        "series": series,
        "extend": extend,
        "aim": aim,
    }
)
WORLDS: Mapping[str, Callable[[np.random.Generator], Family]] = MappingProxyType(
    {"constraint_world": constraint_world, "process_world": process_world, "puzzle_world": puzzle_world}
)
"""Operators that take no parent."""
WORLD_TURNS = ("puzzle_world", "constraint_world", "puzzle_world", "process_world", "puzzle_world")
"""The order in which attempts draw a world: puzzles have more engines than the others together, and those
that ask for something to be made."""
OPERATORS = (*COMPOSING, *WORLDS)
SLACK = 1e-9
"""So that shares like 0.1 + 0.2 count as what they mean."""
OF_MANY = frozenset({"extend", "aim"})
"""Operators that take a parent with many correct answers, which its primary lists."""
CONSTRUCTIVE = frozenset({"switch", "series"}) | OF_MANY
"""Operators that take a parent with many correct answers as well."""
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
        return _drawn(WORLDS[name], random)
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
                child = COMPOSING[name](chosen, random)
            except NotComposable as error:
                reason = str(error)
                continue
            if deepest is None or name == "switch" or depth(child) <= deepest:
                return child
            reason = f"a child of more than {deepest} compositions inside one another"
    raise NotComposable(reason)
