"""The formulas of the correctness gate: small, of many kinds, each drawn for itself from a secret seed, no
two alike and none a copy of another.

Every model is evaluated and every proof checked there, so that no status need be known beforehand; those that
follow from how a formula is made are stated. Small, since a proof costs several times what it took to find:
all of them take a solver some seconds together.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from evolake.errors import MachineryError
from evolake.lake.blobs import BlobStore
from evolake.solvers.formula.cnf import Formula, write_dimacs
from evolake.solvers.suites.circuits import multiplier
from evolake.solvers.suites.combinatorial import coloring, quasigroup_with_holes, tseitin
from evolake.solvers.suites.generators import pcg, planted_ksat, random_ksat
from evolake.solvers.suites.materialize import with_files
from evolake.solvers.suites.spec import Instance, Status, Suite

LEAST = 32
"""Different formulas of which a correctness gate has shown something."""
NAME = "correctness"
DRAWS = 20
"""How often a formula that was drawn before is drawn again; two alike among millions are no chance."""
Drawn = tuple[Status, Formula]


def _planted(rng: np.random.Generator) -> Drawn:
    n = int(rng.integers(200, 301))
    return "SAT", planted_ksat(n, round(4.2 * n), 3, _seed(rng))


def _threshold(rng: np.random.Generator) -> Drawn:
    n = int(rng.integers(110, 141))
    return "unknown", random_ksat(n, round(4.26 * n), 3, _seed(rng))


def _crowded(rng: np.random.Generator) -> Drawn:
    n = int(rng.integers(100, 131))
    return "unknown", random_ksat(n, round(float(rng.uniform(4.6, 5.2)) * n), 3, _seed(rng))


def _parity(rng: np.random.Generator) -> Drawn:
    return "UNSAT", tseitin(2 * int(rng.integers(5, 7)), 4, _seed(rng))


def _coloring(rng: np.random.Generator) -> Drawn:
    n = int(rng.integers(50, 71))
    return "unknown", coloring(n, round(float(rng.uniform(4.3, 4.7)) * n), 4, _seed(rng))


def _square(rng: np.random.Generator) -> Drawn:
    n = int(rng.integers(14, 19))
    return "SAT", quasigroup_with_holes(n, round(0.42 * n * n), _seed(rng))


def _product(rng: np.random.Generator) -> Drawn:
    a, b = (int(factor) | 1 for factor in rng.integers(1 << 10, 1 << 11, size=2))
    return "SAT", multiplier(11, 11, a * b)


KINDS: tuple[tuple[str, Callable[[np.random.Generator], Drawn]], ...] = (
    ("planted", _planted),
    ("crowded", _crowded),
    ("parity", _parity),
    ("threshold", _threshold),
    ("coloring", _coloring),
    ("crowded-too", _crowded),
    ("product", _product),
    ("square", _square),
)


def correctness_suite(blobs: BlobStore, cache: Path, seed: int, count: int = LEAST) -> Suite:
    """Return `count` different formulas, in turns of each kind; the same for the same seed.

    Raises:
        MachineryError: fewer than `LEAST` are asked for, or the generators do not give so many different
            ones.
    """
    if count < LEAST:
        raise MachineryError(
            f"a correctness gate of {count} formulas shows too little",
            wanted=f"at least {LEAST}",
            do="raise correctness_instances",
        )
    instances: dict[str, Instance] = {}
    for number in range(count):
        kind, make = KINDS[number % len(KINDS)]
        for attempt in range(DRAWS):
            drawn = int(
                np.random.SeedSequence([seed, number, attempt]).generate_state(1, dtype=np.uint64)[0]
                >> np.uint64(1)
            )
            status, formula = make(pcg(drawn))
            sha = blobs.put(write_dimacs(formula))
            if sha not in instances:
                name = f"{kind}-{number}"
                instances[sha] = Instance(name, kind, status, sha, seed=drawn, base=name)
                break
    if len(instances) < count:
        raise MachineryError(
            "the generators of the correctness gate repeat themselves",
            wanted=f"{count} formulas",
            got=f"{len(instances)}",
        )
    return with_files(Suite(NAME, tuple(instances.values())), blobs, cache)


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(1 << 62))
