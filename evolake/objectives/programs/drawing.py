"""Random expressions of a wanted kind. What designs are compared by most, the logarithm of their steps, is
drawn most."""

from __future__ import annotations

import numpy as np

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
    rounded,
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
