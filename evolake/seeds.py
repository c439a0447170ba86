"""Random numbers: one root seed a run, children keyed by what they are for.

A child's key is (line, cycle, purpose, index). Keys are hashed, so that adding a purpose never shifts the
numbers of another, and the same key gives the same stream on every machine (numpy's SeedSequence and PCG64
are specified bit for bit).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np


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


def child_seed(root: int, line: str, cycle: str, purpose: str, index: int = 0) -> int:
    """Return a 63-bit seed for one use. Stored with every row that used it.

    Args:
        root: the run's root seed, any non-negative integer.
        line, cycle, purpose: names; `index` distinguishes the members of one purpose.
    """
    if root < 0:
        raise ValueError(f"root seed must be non-negative (got {root})")
    key = hashlib.sha256("\x1f".join([line, cycle, purpose, str(index)]).encode()).digest()
    words = np.frombuffer(key[:16], dtype="<u4").tolist()
    sequence = np.random.SeedSequence(entropy=root, spawn_key=tuple(words))
    return int(sequence.generate_state(1, dtype=np.uint64)[0] >> np.uint64(1))


def generator(root: int, line: str, cycle: str, purpose: str, index: int = 0) -> np.random.Generator:
    """Return a PCG64 generator for one use; see `child_seed` for the key."""
    return np.random.Generator(np.random.PCG64(child_seed(root, line, cycle, purpose, index)))
