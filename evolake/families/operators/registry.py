"""The six evolution operators, by name: each makes one child of its parents, or says that these parents do not allow it (NotComposable).

    switch     another alternative of a rule          aggregate  several instances, one question about all answers
    pipe       an answer becomes a number             invert     which number makes the answer so
    guard      an answer decides a rule               filter     only elements that meet a condition

The same parents and the same random numbers give the same child. A child declares its parents' rules, ports and lists again as far as they still
hold, so children are parents like any other.
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
from evolake.families.operators.pipe import pipe
from evolake.families.operators.switch import switch_rule

Operator = Callable[[Sequence[Family], np.random.Generator], Family]
OPERATORS: Mapping[str, Operator] = MappingProxyType(
    {"switch": switch_rule, "pipe": pipe, "guard": guard, "aggregate": aggregate, "invert": invert, "filter": constrain}
)
OF_TWO = frozenset({"pipe", "guard"})
"""Operators that take two parents, of one language."""


def child_of(name: str, parents: Sequence[Family], random: np.random.Generator) -> Family:
    """One child by the operator, of the first of these parents, in drawn order, that allow it.

    Raises NotComposable: none of them does.
    """
    order = [parents[place] for place in random.permutation(len(parents)).tolist()]
    reason = "no second parent of the same language"
    for number, first in enumerate(order):
        others = [[first, second] for second in order[number + 1 :] + order[:number] if second.language == first.language]
        for chosen in others if name in OF_TWO else [[first]]:
            try:
                return OPERATORS[name](chosen, random)
            except NotComposable as error:
                reason = str(error)
    raise NotComposable(reason)
