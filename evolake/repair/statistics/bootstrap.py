"""Bootstrap over problems (Efron 1979; the cluster form of Davison and Hinkley 1997, section 3.8).

The runs of one problem under several seeds are not independent: a hard problem is hard for every seed. So
problems are drawn with replacement, each with all its runs, and a share or a ratio is recomputed from the
sums. An interval that treated runs as independent would be too narrow.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evolake.seeds import generator
from evolake.stats import Interval

RESAMPLES = 4000
CHUNK_VALUES = 2_000_000
EVERY_CELL = "study"


def ratio_interval(
    numerators: Sequence[float] | np.ndarray,
    denominators: Sequence[float] | np.ndarray,
    rng: np.random.Generator,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return interval of sum(numerators) / sum(denominators), problems resampled.

    Args:
        numerators, denominators: (n,) finite floats, one per problem, n >= 1; denominators not negative. A
            resample whose denominators sum to zero counts as +inf (nothing was solved, so a solve has no
            price), as does the estimate.

    Raises:
        ValueError: no problem, unequal lengths, or a value that is not finite or negative below the line.
    """
    above, below = np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)
    if above.ndim != 1 or above.shape != below.shape or not len(above):
        raise ValueError(
            f"wanted two lists of equal length, at least one problem (got shapes {above.shape} and "
            f"{below.shape})"
        )
    if not (np.isfinite(above) & np.isfinite(below) & (below >= 0)).all():
        raise ValueError("sums of a problem must be finite, and those below the line not negative")
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1 (got {level})")
    at_once = max(1, CHUNK_VALUES // len(above))
    parts = []
    for done in range(0, resamples, at_once):
        drawn = rng.integers(len(above), size=(min(at_once, resamples - done), len(above)))
        parts.append(_ratio(above[drawn].sum(axis=-1), below[drawn].sum(axis=-1)))
    ends = np.quantile(
        np.concatenate(parts), [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf"
    )  # no interpolation: inf - inf is no number
    return Interval(float(_ratio(above.sum(), below.sum())), float(ends[0]), float(ends[1]), level)


def stream(root_seed: int, *purpose: str) -> np.random.Generator:
    """Return the generator of one interval: keyed by what it is an interval of, so that adding another shifts
    none."""
    return generator(root_seed, "repair", EVERY_CELL, "bootstrap:" + ":".join(purpose))


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / np.where(below > 0, below, 1), np.inf)
