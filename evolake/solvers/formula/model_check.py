"""Judge a claimed model on the formula itself: a model that satisfies every clause is a certificate that
needs no trust in the solver."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from evolake.errors import InputError
from evolake.solvers.formula.cnf import Formula

SPARSE = 100_000_000
"""With more variables than this a formula is mostly gaps, and no array is made over their names."""


def falsified_clauses(formula: Formula, model: Iterable[int] | np.ndarray) -> np.ndarray:
    """Return the indices of the clauses that `model` does not satisfy: int64 (k,), empty for a true model.

    model: DIMACS literals in any order. A variable without a value satisfies nothing; literals of other
    variables than the formula's are ignored. Raises InputError when the model holds a literal and its
    negation, or 0.
    """
    literals = np.asarray(model if isinstance(model, np.ndarray) else list(model), dtype=np.int64).reshape(-1)
    if (literals == 0).any():
        raise InputError("a model holds 0, which is no literal")
    if (np.isin(-literals, literals)).any():
        raise InputError("a model gives one variable both values")
    if formula.variables > SPARSE:
        satisfied = np.isin(formula.literals, literals)
    else:
        literals = literals[np.abs(literals) <= formula.variables]
        value = np.zeros(formula.variables + 1, dtype=np.int8)
        value[np.abs(literals)] = np.sign(literals)
        satisfied = value[np.abs(formula.literals)] == np.sign(formula.literals)
    running = np.zeros(len(satisfied) + 1, dtype=np.int64)
    np.cumsum(satisfied, out=running[1:])
    return np.flatnonzero(running[formula.starts[1:]] == running[formula.starts[:-1]])
