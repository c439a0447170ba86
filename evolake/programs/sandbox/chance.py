"""Seed the usual generators of random numbers, and carry their state from one process to another. Runs inside
the jail."""

from __future__ import annotations

import random
import sys
from typing import Any


def sow(seed: int, *, numpy: bool) -> None:
    """One seed for the usual sources of chance."""
    random.seed(seed)
    if numpy:
        import numpy as np

        np.random.seed(seed % 2**32)


def state() -> list[Any]:
    """Return the state of the generators that are loaded, as plain values that can be compared."""
    if "numpy.random" not in sys.modules:
        return [random.getstate(), None]
    kind, numbers, *rest = sys.modules["numpy.random"].get_state()
    return [random.getstate(), [kind, numbers.tobytes(), *rest]]


def set_state(given: list[Any]) -> None:
    """Set the generators to what `state` gave in another process."""
    random.setstate(given[0])
    if given[1] is not None:
        import numpy as np

        kind, numbers, *rest = given[1]
        np.random.set_state((kind, np.frombuffer(numbers, np.uint32), *rest))
