"""The noise floor: how far two measurements of the very same thing are apart on this host.

It is reported next to a result; whether a gain is one is decided by `evolake.contest`. Both are costs, so
differences are ratios.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def noise_floor(
    first: Sequence[float] | np.ndarray, second: Sequence[float] | np.ndarray, level: float = 0.95
) -> float:
    """Return ratio, at least 1, that `level` of the A/A pairs stay within.

    Args:
        first, second: (n,) positive costs; pair i measured one thing twice.

    Raises:
        ValueError: no pairs, unequal lengths, or a cost that is not positive and finite.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or not len(a):
        raise ValueError(
            f"wanted two lists of equal length, at least one pair (got shapes {a.shape} and {b.shape})"
        )
    if not (np.isfinite(a) & np.isfinite(b) & (a > 0) & (b > 0)).all():
        raise ValueError("costs must be positive and finite")
    return float(np.exp(np.quantile(np.abs(np.log(a / b)), level)))
