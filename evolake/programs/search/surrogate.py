"""A Gaussian process over the numbers of one skeleton: which of many possible steps is worth an evaluation.

Its kernel is a sum of one-dimensional kernels and one of all dimensions (Duvenaud et al., Additive Gaussian
Processes, NeurIPS 2011): most steps change one to three numbers, and what each does alone is learnt from few
trials, even of many numbers. Scores are replaced by normal quantiles of their ranks, so that a single huge
score does not flatten the rest. Length scales, noise and the share of the sum maximize the marginal
likelihood over a grid, then number by number. That is done once for several proposals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

LENGTHS, NOISES, SUMS, FACTORS = (0.3, 1.0, 3.0), (1e-4, 0.05), (0.3, 0.9), (0.4, 3.0)
REFINED = 10
"""Numbers whose own length scale is fitted: those that vary most."""
SMALLEST = 1e-10

Array = np.ndarray


@dataclass(frozen=True)
class Shape:
    """What a kernel depends on. lengths: (d,). total: share of the sum of one-dimensional kernels."""

    lengths: Array
    noise: float
    total: float

    def kernel(self, first: Array, second: Array) -> Array:
        """Return the covariance of points (n, d) and (m, d): of each number a Matern-5/2 kernel, their mean,
        and one kernel of all."""
        apart = np.abs(first[:, None, :] - second[None, :, :]) / self.lengths
        return self.joined(matern(apart).mean(axis=2), np.sum(apart**2, axis=2))

    def joined(self, alone: Array, squares: Array) -> Array:
        """Return the covariance of the mean of the one-dimensional kernels and the squared distances."""
        together = matern(np.sqrt(squares / np.sqrt(len(self.lengths))))
        return self.total * alone + (1 - self.total) * together


@dataclass(frozen=True)
class Process:
    """A process that knows points (n, d). inverse: of their covariance. weights: (n,)."""

    points: Array
    shape: Shape
    inverse: Array
    weights: Array

    def predict(self, points: Array) -> tuple[Array, Array]:
        """Return mean and standard deviation at points of shape (m, d)."""
        cross = self.shape.kernel(points, self.points)
        variance = 1.0 - np.sum(cross @ self.inverse * cross, axis=1)
        return cross @ self.weights, np.sqrt(np.maximum(variance, SMALLEST))


def process_of(points: Array, targets: Array, shape: Shape) -> Process:
    """Return the process of a shape that knows what targets points have."""
    inverse = np.linalg.inv(noisy(shape.kernel(points, points), shape.noise))
    return Process(points, shape, inverse, inverse @ targets)


def normal_ranks(merits: Sequence[float]) -> Array:
    """Return normal quantiles of ranks, those of equal merits averaged."""
    _, place, count = np.unique(np.asarray(merits, float), return_inverse=True, return_counts=True)
    middle = (np.cumsum(count) - count / 2) / len(merits)
    return np.array([NormalDist().inv_cdf(share) for share in middle.tolist()])[place]


def matern(apart: Array) -> Array:
    """Return the Matern kernel with smoothness 5/2 of scaled distances."""
    scaled = np.sqrt(5.0) * apart
    return (1 + scaled + scaled**2 / 3) * np.exp(-scaled)


def fitted(points: Array, targets: Array) -> Shape:
    """Return the shape of the greatest marginal likelihood that a short search finds; the same points and
    targets are not searched twice."""
    return _fitted(points.tobytes(), targets.tobytes(), points.shape[1])


@lru_cache(maxsize=32)
def _fitted(points: bytes, targets: bytes, count: int) -> Shape:
    known, goal = np.frombuffer(points).reshape(-1, count), np.frombuffer(targets)
    apart = np.abs(known[:, None, :] - known[None, :, :])
    best = (-np.inf, Shape(np.ones(count), NOISES[0], SUMS[0]), apart[:, :, 0], apart[:, :, 0])
    for length in LENGTHS:
        alone, squares = matern(apart / length).mean(axis=2), np.sum((apart / length) ** 2, axis=2)
        for noise in NOISES:
            for total in SUMS:
                shape = Shape(np.full(count, length), noise, total)
                value = likelihood(shape.joined(alone, squares), goal, noise)
                if value > best[0]:
                    best = (value, shape, alone, squares)
    for place in np.argsort(-known.std(axis=0), kind="stable")[:REFINED].tolist() if len(known) > 6 else ():
        value, shape, alone, squares = best
        for factor in FACTORS:
            lengths = shape.lengths.copy()
            lengths[place] *= factor
            old, new = apart[:, :, place] / shape.lengths[place], apart[:, :, place] / lengths[place]
            tried = Shape(lengths, shape.noise, shape.total)
            changed = alone + (matern(new) - matern(old)) / count, squares + new**2 - old**2
            other = likelihood(tried.joined(changed[0], np.maximum(changed[1], 0.0)), goal, shape.noise)
            if other > best[0]:
                best = (other, tried, *changed)
                break
    return best[1]


def likelihood(covariance: Array, targets: Array, noise: float) -> float:
    """Return the log marginal likelihood, but for a constant."""
    chol = np.linalg.cholesky(noisy(covariance, noise))
    solved = np.linalg.solve(chol, targets)
    return float(-0.5 * solved @ solved - np.log(np.diag(chol)).sum())


def noisy(covariance: Array, noise: float) -> Array:
    """Return the covariance of measured values."""
    return covariance + (noise + 1e-8) * np.eye(len(covariance))
