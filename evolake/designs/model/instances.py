"""Planted 3-SAT near the hardest ratio, after Barthel et al. (Phys. Rev. Lett. 88, 188701, 2002), which is
what the paper measures on.

A hidden assignment is drawn; a clause takes three distinct variables and has 3, 2 or 1 true literals under it
with probabilities p0, (1 - 4 p0)/2 and (1 + 2 p0)/2, the false ones placed uniformly. At p0 = 0.08 no
first-order bias points to the hidden assignment.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from evolake.errors import InputError
from evolake.seeds import generator

RATIO = 4.3
P0 = 0.08


MOST_VALUES = 1_000_000_000
"""Variables of all instances together: beyond, no machine that this runs on holds the clauses."""


@dataclass(frozen=True)
class Planted:
    """A batch of instances of one size.

    idx: (B, M, 3) int32, variables 0..n-1, distinct in a clause. sgn: (B, M, 3) int8, +1 for a plain literal
    and -1 for a negated one. hidden: (B, N) int8, +1 true and -1 false; it satisfies every clause.
    """

    idx: np.ndarray = field(repr=False)
    sgn: np.ndarray = field(repr=False)
    hidden: np.ndarray = field(repr=False)
    n: int
    m: int
    seed: int

    @property
    def batch(self) -> int:
        """Return the number of instances."""
        return self.idx.shape[0]


def planted(n: int, batch: int, seed: int, *, ratio: float = RATIO, p0: float = P0) -> Planted:
    """Return `batch` instances with `n` variables and int(ratio*n) clauses; the same arguments give the same
    bytes.

    Raises:
        InputError: n < 3, batch < 1, more than MOST_VALUES in all, a ratio that leaves no clause, a negative
            seed, p0 outside [0, 1/4].
    """
    if n < 3:
        raise InputError(
            "too few variables for 3-SAT", wanted="n of at least 3", got=str(n), do="choose a larger n"
        )
    if batch < 1:
        raise InputError(
            "no instances asked for",
            wanted="at least 1 instance",
            got=str(batch),
            do="choose a positive number of instances",
        )
    if seed < 0:
        raise InputError(
            "a seed cannot be negative", wanted="0 or more", got=str(seed), do="choose another seed"
        )
    if n * batch > MOST_VALUES:
        raise InputError(
            "too many variables",
            wanted=f"n times instances of at most {MOST_VALUES}",
            got=f"{n} times {batch}",
            do="choose fewer",
        )
    m = int(ratio * n)
    if m < 1 or not 0 <= p0 <= 0.25:
        raise InputError(
            "no such ensemble",
            wanted="a ratio with at least one clause and p0 between 0 and 0.25",
            got=f"ratio {ratio}, p0 {p0}",
        )
    rng = generator(seed, "designs", "", f"planted n={n} batch={batch} ratio={ratio} p0={p0}")
    hidden = (2 * rng.integers(0, 2, size=(batch, n), dtype=np.int8) - 1).astype(np.int8)
    idx = distinct_triples(rng, batch * m, n).reshape(batch, m, 3)
    false_count = rng.choice(3, size=(batch, m), p=[p0, (1 - 4 * p0) / 2, (1 + 2 * p0) / 2])
    place = _uniform_order(rng, batch * m).reshape(batch, m, 3)
    truth = np.where(place < false_count[..., None], -1, 1).astype(np.int8)
    sgn = truth * np.take_along_axis(hidden, idx.reshape(batch, -1), axis=1).reshape(batch, m, 3)
    return Planted(idx.astype(np.int32), sgn.astype(np.int8), hidden, n, m, seed)


def distinct_triples(rng: np.random.Generator, count: int, n: int) -> np.ndarray:
    """Return (count, 3) uniform ordered triples of distinct numbers below n: each draw skips over the ones
    before it."""
    first = rng.integers(0, n, size=count)
    second = rng.integers(0, n - 1, size=count)
    second += second >= first
    low, high = np.minimum(first, second), np.maximum(first, second)
    third = rng.integers(0, n - 2, size=count)
    third += third >= low
    third += third >= high
    return np.stack([first, second, third], axis=1)


def _uniform_order(rng: np.random.Generator, count: int) -> np.ndarray:
    """(count, 3) uniform permutations of 0, 1, 2."""
    orders = np.array([[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
    return orders[rng.integers(0, 6, size=count)]


def to_dimacs(instances: Planted, index: int) -> str:
    """Return instance `index` as DIMACS CNF text."""
    clauses = (instances.idx[index].astype(np.int64) + 1) * instances.sgn[index]
    head = f"c planted 3-SAT, seed {instances.seed}, instance {index}\np cnf {instances.n} {instances.m}\n"
    return head + "".join(f"{a} {b} {c} 0\n" for a, b, c in clauses.tolist())


def write_dimacs(instances: Planted, folder: Path) -> list[Path]:
    """Return one file per instance, `planted_n<N>_seed<S>_<index>.cnf`, in `folder`, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for index in range(instances.batch):
        path = folder / f"planted_n{instances.n}_seed{instances.seed}_{index:04d}.cnf"
        path.write_text(to_dimacs(instances, index))
        paths.append(path)
    return paths
