"""Bootstrap over problems and seeds together, and the test of a difference by flipping signs."""

from __future__ import annotations

import numpy as np

from evolake.stats.bootstrap import RESAMPLES, Interval

LEVEL = 0.95
FLIPS = 9999
EXACT = 12
"""Problems that differ up to which all flips are counted."""


def grid_interval(values: np.ndarray, rng: np.random.Generator, resamples: int = RESAMPLES) -> Interval:
    """Return the mean of a grid with the interval from resampling its rows and its columns, each with
    replacement (Owen and Eckles 2012).

    values: (seeds, problems), finite, at least one. With one seed the spread over seeds is unknown, and the
    interval is one of problems alone.
    """
    seeds, problems = values.shape
    rows = rng.multinomial(seeds, np.full(seeds, 1 / seeds), size=resamples) / seeds
    columns = rng.multinomial(problems, np.full(problems, 1 / problems), size=resamples) / problems
    means = np.einsum("rs,sp,rp->r", rows, values, columns, optimize=True)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(values.mean()), float(low), float(high), LEVEL)


def sign_flip_p(differences: np.ndarray, rng: np.random.Generator) -> float:
    """Return two-sided p-value that paired differences are symmetric about 0 (Fisher 1935): the share of sign
    flips whose mean is at least as far from 0.

    differences: (n,). Zeros say nothing. All flips are counted where few differ, else FLIPS are drawn, and
    the one that happened counts with them.
    """
    summary = differences[differences != 0]
    if not len(summary):
        return 1.0
    seen = abs(summary.sum()) - 1e-12
    if len(summary) <= EXACT:
        signs = 1 - 2 * ((np.arange(2 ** len(summary))[:, None] >> np.arange(len(summary))) & 1)
        return float((np.abs(signs @ summary) >= seen).mean())
    signs = 1 - 2 * rng.integers(2, size=(FLIPS, len(summary)))
    return float(((np.abs(signs @ summary) >= seen).sum() + 1) / (FLIPS + 1))
