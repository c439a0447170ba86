"""Random typed expressions and parameters of the open grammar. What is asked for is the kind; names and
operators are drawn from all that fit."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from evolake.designs.genome.open_expression import (
    ARITHMETIC,
    FUNCTIONS,
    REDUCTIONS,
    STATISTICS,
    Expression,
    Kind,
)
from evolake.designs.genome.open_genome import Constant, Parameter
from evolake.designs.genome.variation import rounded

LEAF_ODDS, FUNCTION_ODDS, REDUCTION_ODDS, POWER_ODDS = 0.3, 0.3, 0.15, 0.05
CONSTANT_ODDS = 0.2
STATISTIC_ODDS = 0.12
SPAN = 100.0
"""How far a parameter may be tuned from where it was drawn: by this factor either way."""
NUMBERS = (0.5, 1.0, 2.0)


@dataclass
class Drawing:
    """What expressions are drawn from. names: kinds of the names at hand. focus: names and operators to
    prefer. fresh: parameters drawn so far."""

    random: np.random.Generator
    names: Mapping[str, Kind]
    focus: Collection[str] = ()
    fresh: list[Constant] = field(default_factory=list)

    def expression(self, kind: Kind, depth: int) -> Expression:
        """Return an expression whose kind is `kind`, or a scalar or clause where these stand for it."""
        if depth <= 0 or self.random.random() < LEAF_ODDS:
            return self.leaf(kind)
        drawn = self.random.random()
        reductions = [name for name, (_, given) in REDUCTIONS.items() if given == kind]
        if reductions and drawn < REDUCTION_ODDS:
            name = self.pick(reductions)
            return (name, self.expression(REDUCTIONS[name][0], depth - 1))
        if drawn < REDUCTION_ODDS + FUNCTION_ODDS:
            return (self.pick(FUNCTIONS), self.expression(kind, depth - 1))
        if drawn < REDUCTION_ODDS + FUNCTION_ODDS + POWER_ODDS:
            return ("power", self.expression(kind, depth - 1), self.parameter())
        first, second = self.expression(kind, depth - 1), self.operand(kind, depth - 1)
        return (self.pick(ARITHMETIC), first, second)

    def operand(self, kind: Kind, depth: int) -> Expression:
        """Return a second operand: at times a parameter."""
        return self.parameter() if self.random.random() < CONSTANT_ODDS else self.expression(kind, depth)

    def leaf(self, kind: Kind) -> Expression:
        """Return a name of that kind, or of one that stands for it; at times a number of the whole
        formula."""
        numbers = self.statistics()
        if numbers and self.random.random() < (0.5 if kind == "scalar" else STATISTIC_ODDS):
            return self.pick(numbers)
        exact = [name for name, held in self.names.items() if held == kind]
        near = [name for name, held in self.names.items() if held == "clause"] if kind == "literal" else []
        if kind == "scalar" or not exact or (near and self.random.random() < 0.5):
            return self.pick(near) if near else self.parameter()
        return self.pick(exact)

    def statistics(self) -> list[str]:
        """Return numbers of the whole formula among the names at hand, memories of one number among them."""
        return [
            name
            for name, held in self.names.items()
            if held == "scalar" and (name in STATISTICS or name.startswith("m"))
        ]

    def parameter(self) -> Expression:
        """Return a fresh parameter, or one of a few plain numbers."""
        if self.random.random() < CONSTANT_ODDS:
            return float(self.random.choice(NUMBERS))
        return self.constant(float(np.exp(self.random.normal(-1.0, 1.5))))

    def constant(self, value: float) -> str:
        """Return a fresh parameter with this value; its name is none that a canonical genome has."""
        value = rounded(value)
        name = f"fresh{len(self.fresh)}"
        self.fresh.append(
            Constant(Parameter(name, "log_uniform", 0.0, rounded(value / SPAN), rounded(value * SPAN)), value)
        )
        return name

    def pick(self, among: Sequence[str]) -> str:
        """Return one of them; those in focus come first half of the time."""
        preferred = [name for name in among if name in self.focus]
        chosen = preferred if preferred and self.random.random() < 0.5 else list(among)
        return chosen[int(self.random.integers(len(chosen)))]
