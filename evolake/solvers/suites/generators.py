"""Generators of formulas, by name: what a suite's spec calls with its parameters.

Random ones draw from PCG64 seeded by the spec's own seed, so that a spec names the same bytes on every
machine; the suite's lock holds their sha256, and a generator that came to give other bytes is found out
there, not in a benchmark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from evolake.errors import InputError
from evolake.solvers.formula.cnf import Formula, formula_of
from evolake.solvers.suites.circuits import arx_preimage, filter_state, miter, multiplier
from evolake.solvers.suites.combinatorial import coloring, quasigroup_with_holes, tseitin
from evolake.solvers.suites.corner_cases import corner_case
from evolake.solvers.suites.parities import contradictory_counts, even_coloring, xor_system


def pcg(seed: int) -> np.random.Generator:
    """Return the generator that `seed` names."""
    return np.random.Generator(np.random.PCG64(seed))


def random_ksat(n: int, m: int, k: int, seed: int) -> Formula:
    """Return uniform random k-SAT: m clauses of k distinct variables of 1..n, each literal negated by a fair
    coin."""
    rng = pcg(seed)
    variables = _distinct_rows(rng, n, m, k)
    signs = 2 * rng.integers(2, size=(m, k)) - 1
    return formula_of(n, (variables * signs).tolist())


def planted_ksat(n: int, m: int, k: int, seed: int) -> Formula:
    """Return random k-SAT with a hidden assignment: clauses that it falsifies are drawn again."""
    rng = pcg(seed)
    hidden = np.concatenate([[0], 2 * rng.integers(2, size=n) - 1])
    variables = _distinct_rows(rng, n, m, k)
    signs = 2 * rng.integers(2, size=(m, k)) - 1
    while len(bad := np.flatnonzero((signs != hidden[variables]).all(axis=1))):
        signs[bad] = 2 * rng.integers(2, size=(len(bad), k)) - 1
    return formula_of(n, (variables * signs).tolist())


def from_cnfgen(args: str) -> Formula:
    """Return a family of the package cnfgen, called as its command would be; only families that draw nothing
    at random are used."""
    from cnfgen.clitools.cnfgen import cli

    formula: Any = cli(["cnfgen", "-q", *args.split()], mode="formula")
    return formula_of(formula.number_of_variables(), [list(clause) for clause in formula])


def _distinct_rows(rng: np.random.Generator, n: int, m: int, k: int) -> np.ndarray:
    """(m, k) ints of 1..n, distinct in a row; rows with a repetition are drawn again."""
    rows = rng.integers(1, n + 1, size=(m, k))
    while len(bad := np.flatnonzero((np.diff(np.sort(rows, axis=1), axis=1) == 0).any(axis=1))):
        rows[bad] = rng.integers(1, n + 1, size=(len(bad), k))
    return rows


GENERATORS: dict[str, Callable[..., Formula | bytes]] = {
    "rksat": random_ksat,
    "planted": planted_ksat,
    "cnfgen": from_cnfgen,
    "tseitin": tseitin,
    "coloring": coloring,
    "qgh": quasigroup_with_holes,
    "mult": multiplier,
    "arx": arx_preimage,
    "corner": corner_case,
    "xor": xor_system,
    "even": even_coloring,
    "counts": contradictory_counts,
    "miter": miter,
    "filter": filter_state,
}


def generate(generator: str, parameters: Mapping[str, Any]) -> Formula | bytes:
    """Return the formula (for the generator `corner`: its raw text, whose layout is the point) that a spec's
    entry asks for.

    Raises:
        InputError: no such generator, or parameters that it does not take.
    """
    if generator not in GENERATORS:
        raise InputError(
            f"there is no generator {generator!r}",
            wanted=f"one of {', '.join(GENERATORS)}",
            do="correct the suite's spec",
        )
    try:
        return GENERATORS[generator](**parameters)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the generator {generator!r} cannot use {dict(parameters)}",
            got=str(error),
            do="correct the suite's spec",
        ) from None
