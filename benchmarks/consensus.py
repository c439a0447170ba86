"""Consensus: the time of one ranking, side by side with a plain double loop of scipy's kendalltau over the
same scores.

    python benchmarks/consensus.py            the paper's size: 42 objectives, 414 designs
    python benchmarks/consensus.py --large    also 200 objectives, 10,000 designs (scipy on a sample of pairs, scaled up)

One thread: neither way uses BLAS. Medians of repeated runs, the two taking turns, so that a noisy machine
slows both.
"""  # noqa: E501

from __future__ import annotations

import resource
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
from scipy.stats import kendalltau, rankdata

from evolake.objectives.consensus import aggregate


def plain(scores: np.ndarray, pairs: list[tuple[int, int]]) -> np.ndarray:
    """Return tau of the given pairs of objectives, one scipy call per pair."""
    ranks = rankdata(scores, axis=1)
    return np.array([kendalltau(ranks[i], ranks[j]).statistic for i, j in pairs])


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def made_up(k: int, n: int) -> np.ndarray:
    """Scores with a shared truth, noise, ties from rounding, and a fifth of the designs failed."""
    rng = np.random.default_rng(0)
    scores = (rng.normal(size=n) + rng.normal(size=(k, n))).round(2)
    scores[:, rng.random(n) < 0.2] = np.inf
    return scores


def main() -> None:
    k, n = 42, 414
    scores = made_up(k, n)
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    ours = aggregate(scores, np.arange(k), k)
    worst = np.abs(ours.tau[tuple(np.array(pairs).T)] - plain(scores, pairs)).max()
    mine, theirs = [], []
    for _ in range(7):
        mine += [seconds(lambda: aggregate(scores, np.arange(k), k)) for _ in range(20)]
        theirs.append(seconds(lambda: plain(scores, pairs)))
    fast, slow = statistics.median(mine), statistics.median(theirs)
    print(
        f"K={k} n={n}: evolake {1e3 * fast:.2f} ms, fastest {1e3 * min(mine):.2f} ms (goal 5), scipy "
        f"double loop {1e3 * slow:.0f} ms, ratio {slow / fast:.0f}x, tau differs by at most {worst:.0e}"
    )
    if "--large" in sys.argv:
        large(200, 10_000)


def large(k: int, n: int) -> None:
    scores = made_up(k, n)
    took = seconds(lambda: aggregate(scores, np.arange(k), k))
    again = seconds(lambda: aggregate(scores, np.arange(k), k))
    sample = [(i, i + 1) for i in range(0, 40, 2)]
    slow = seconds(lambda: plain(scores, sample)) / len(sample) * k * (k - 1) / 2
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"K={k} n={n}: evolake {took:.1f} s the first time (compiles), {again:.1f} s after (goal 30), "
        f"peak {memory:.0f} MB (goal 2048), scipy double loop about {slow:.0f} s, ratio "
        f"{slow / again:.0f}x"
    )


if __name__ == "__main__":
    main()
