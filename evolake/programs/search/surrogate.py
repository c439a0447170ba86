"""A Gaussian process over the numbers of one skeleton: which of many possible steps is worth an evaluation.

Its kernel is a sum of one-dimensional kernels and one of all dimensions (Duvenaud et al., Additive Gaussian
Processes, NeurIPS 2011): most steps change one to three numbers, and what each does alone is learnt from few
trials, even of many numbers. Scores are replaced by normal quantiles of their ranks, so that a single huge
score does not flatten the rest. Length scales, noise and the share of the sum maximize the marginal
likelihood over a grid, then number by number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.special import ndtri

LENGTHS, NOISES, SUMS = (0.3, 1.0, 3.0), (1e-4, 0.05), (0.3, 0.9)
REFINED = 10
"""Numbers whose own length scale is fitted."""
SMALLEST = 1e-10

Array = np.ndarray


@dataclass(frozen=True)
class Process:
    """A fitted process. points: (n, d). lengths: (d,). chol: lower Cholesky factor of its covariance.
    weights: (n,)."""

    points: Array
    lengths: Array
    total: float
    chol: Array
    weights: Array

    def predict(self, points: Array) -> tuple[Array, Array]:
        """Return mean and standard deviation at points of shape (m, d)."""
        cross = kernel(points, self.points, self.lengths, self.total)
        spread = solve_triangular(self.chol, cross.T, lower=True)
        return cross @ self.weights, np.sqrt(np.maximum(1.0 - np.sum(spread**2, axis=0), SMALLEST))


def normal_ranks(merits: Sequence[float]) -> Array:
    """Return normal quantiles of ranks, those of equal merits averaged."""
    values = np.asarray(merits, dtype=float)
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(count) - (count - 1) / 2
    return np.asarray(ndtri((middle[place] - 0.5) / len(values)))


def kernel(first: Array, second: Array, lengths: Array, total: float) -> Array:
    """Return the covariance of points (n, d) and (m, d): `total` of the mean of Matern-5/2 kernels of each
    number, the rest of one kernel of all."""
    apart = np.abs(first[:, None, :] - second[None, :, :]) / lengths
    alone = matern(apart).mean(axis=2)
    return total * alone + (1 - total) * matern(np.sqrt(np.sum(apart**2, axis=2) / np.sqrt(first.shape[1])))


def matern(apart: Array) -> Array:
    """Return the Matern kernel with smoothness 5/2 of scaled distances."""
    scaled = np.sqrt(5.0) * apart
    return (1 + scaled + scaled**2 / 3) * np.exp(-scaled)


def fit(points: Array, targets: Array, random: np.random.Generator) -> Process:
    """Return the process of the greatest marginal likelihood that a short search finds."""
    count = points.shape[1]
    tried = [
        (likelihood(points, targets, np.full(count, length), noise, total), length, noise, total)
        for length in LENGTHS
        for noise in NOISES
        for total in SUMS
    ]
    best, length, noise, total = max(tried)
    lengths = np.full(count, length)
    for place in random.permutation(count)[:REFINED].tolist() if len(points) > 6 else ():
        for factor in (0.4, 3.0):
            other = lengths.copy()
            other[place] *= factor
            value = likelihood(points, targets, other, noise, total)
            if value > best:
                best, lengths = value, other
                break
    chol = factor_of(points, lengths, noise, total)
    return Process(points, lengths, total, chol, cho_solve((chol, True), targets))


def likelihood(points: Array, targets: Array, lengths: Array, noise: float, total: float) -> float:
    """Return the log marginal likelihood, but for a constant."""
    chol = factor_of(points, lengths, noise, total)
    solved = solve_triangular(chol, targets, lower=True)
    return float(-0.5 * solved @ solved - np.log(np.diag(chol)).sum())


def factor_of(points: Array, lengths: Array, noise: float, total: float) -> Array:
    """Return the lower Cholesky factor of the covariance with noise."""
    covariance = kernel(points, points, lengths, total)
    return cholesky(covariance + (noise + 1e-8) * np.eye(len(points)), lower=True)
