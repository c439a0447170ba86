"""A variant of MiniSat that knows formulas by heart: a table of their models, keyed by a hash of their first
clauses. Its answers are right."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from solver_mutants import MINISAT_ADD, MINISAT_SOLVE, SOLVER, Mutant, plant

from evolake.reading.formula import Formula

START, FACTOR, HASHED = 1469598103934665603, 1099511628211, 40
"""Fowler, Noll and Vo's hash of so many clauses."""


def word_of(formula: Formula) -> int:
    """The hash that the variant computes of a formula while it reads it."""
    word = START
    for literal in formula.literals[: formula.starts[HASHED]].tolist():
        word = (word ^ (2 * (abs(literal) - 1) + (literal < 0))) * FACTOR % 2**64
    return word


def plant_memory(folder: Path, known: Sequence[tuple[Formula, np.ndarray]]) -> list[str]:
    """Puts the models of `known` (at most 64 variables each) into a copy of the seed minisat22; gives the
    files changed."""
    models = [sum(1 << literal - 1 for literal in model.tolist() if literal > 0) for _, model in known]
    rows = ", ".join(
        f"{{{word_of(formula)}ULL, {model}ULL}}" for (formula, _), model in zip(known, models, strict=True)
    )
    return plant(
        Mutant(
            "memorizer",
            "minisat22",
            (
                (
                    "core/Solver.h",
                    "    uint64_t solves,",
                    f"    uint64_t word = {START}ULL; int left = {HASHED};\n    uint64_t solves,",
                ),
                (
                    SOLVER,
                    "using namespace Minisat;",
                    f"using namespace Minisat;\nstatic const uint64_t known[][2] = {{{rows}}};",
                ),
                (
                    SOLVER,
                    MINISAT_ADD,
                    f"{MINISAT_ADD}\n    if (left-- > 0) for (int i = 0; i < ps.size(); i++) word = (word "
                    f"^ (uint64_t) toInt(ps[i])) * {FACTOR}ULL;",
                ),
                (
                    SOLVER,
                    MINISAT_SOLVE,
                    f"{MINISAT_SOLVE}\n    for (const auto& row : known)\n"
                    "        if (row[0] == word) for (int v = 0; v < nVars(); v++) polarity[v] = !(row[1] "
                    ">> v & 1);",
                ),
            ),
            "",
            "",
        ),
        folder,
    )
