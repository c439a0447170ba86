"""Power laws fitted in log-log, and what they say of sizes that were not run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class PowerLaw:
    """log steps = a + b log n. spread: covariance (2, 2) of (a, b); scatter: variance of a point about the
    line; freedom: points less two."""

    a: float
    b: float
    b_error: float
    spread: np.ndarray
    scatter: float
    freedom: int

    def predicted(self, n: float, level: float = 0.95) -> tuple[float, float, float]:
        """Return steps at `n`, and the ends of Student's prediction interval of one more point there."""
        from scipy.special import (
            stdtrit,
        )  # what scipy.stats.t.ppf asks; that module takes half a second to import

        middle, error = self._line(np.asarray([n], dtype=np.float64))
        reach = float(stdtrit(self.freedom, (1 + level) / 2)) * math.sqrt(float(error[0]) ** 2 + self.scatter)
        return tuple(math.exp(min(float(middle[0]) + sign * reach, LARGEST_LOG)) for sign in (0, -1, 1))  # pyright: ignore[reportReturnType]

    def _line(self, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x = np.log(n)
        error = np.sqrt(
            np.maximum(self.spread[0, 0] + 2 * x * self.spread[0, 1] + x * x * self.spread[1, 1], 0.0)
        )
        return self.a + self.b * x, error


LARGEST_LOG = 700.0


def fit_power_law(n: Sequence[float], steps: Sequence[float]) -> PowerLaw | None:
    """Return least squares in log-log with the standard error of the exponent; None with fewer than three
    sizes."""
    x, y = (
        np.log(np.asarray(n, dtype=np.float64)),
        np.log(np.maximum(np.asarray(steps, dtype=np.float64), 1.0)),
    )
    if len(np.unique(x)) < 3:
        return None
    design = np.stack([np.ones_like(x), x], axis=1)
    inverse = np.linalg.inv(design.T @ design)
    a, b = inverse @ design.T @ y
    residual = y - a - b * x
    scatter = float(residual @ residual) / (len(x) - 2)
    spread = inverse * scatter
    return PowerLaw(float(a), float(b), math.sqrt(float(spread[1, 1])), spread, scatter, len(x) - 2)
