"""Random numbers of one cycle: root seed, line and cycle as one value, since every key in a cycle has all
three."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evolake.seeds import child_seed, generator


@dataclass(frozen=True)
class CycleSeeds:
    """The seeds of one cycle of one line; see `evolake.seeds` for the key."""

    root: int
    line: str
    cycle: str

    def seed(self, purpose: str, index: int = 0) -> int:
        """Return the seed for one use."""
        return child_seed(self.root, self.line, self.cycle, purpose, index)

    def generator(self, purpose: str, index: int = 0) -> np.random.Generator:
        """Return the generator for one use."""
        return generator(self.root, self.line, self.cycle, purpose, index)
