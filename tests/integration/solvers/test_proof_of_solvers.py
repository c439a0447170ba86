"""Proofs that real solvers wrote (those inside the package python-sat), whole and damaged, before every
available checker."""

import itertools

import numpy as np
import pytest

from evolake.reading.formula import Formula, formula_of, write_dimacs
from evolake.solvers.proof import ProofLimits
from evolake.solvers.proof.checking import CHECKERS
from evolake.solvers.proof.drat import Proof, read_proof, write_binary, write_text

SOLVERS = ("cadical195", "glucose4", "lingeling")
LIMITS = ProofLimits(cpu_s=60)


def random_formula(variables, clauses, seed) -> Formula:
    rng = np.random.default_rng(seed)
    rows = [
        ((rng.choice(variables, 3, replace=False) + 1) * rng.choice([-1, 1], 3)).tolist()
        for _ in range(clauses)
    ]
    return formula_of(variables, rows)


@pytest.fixture(scope="module")
def proofs():
    """Solver -> (formula, proof) of a random formula beyond the threshold."""
    from pysat.formula import CNF
    from pysat.solvers import Solver

    formula = random_formula(60, 330, 1)
    result = {}
    for name in SOLVERS:
        with Solver(
            name=name, bootstrap_with=CNF(from_string=write_dimacs(formula).decode()), with_proof=True
        ) as solver:
            assert solver.solve() is False
            result[name] = (
                formula,
                read_proof("\n".join([*solver.get_proof(), "0", ""]).encode(), "drat-text"),
            )
    return result


def without(proof, step):
    """The proof without one step."""
    keep = np.arange(proof.steps) != step
    lengths = np.diff(proof.starts)
    starts = np.concatenate([[0], np.cumsum(lengths[keep])])
    return Proof(proof.literals[np.repeat(keep, lengths)], starts, proof.deletion[keep])


CASES = list(
    itertools.product(
        SOLVERS, [checker for checker in CHECKERS.values() if checker.available()], (write_text, write_binary)
    )
)


@pytest.mark.parametrize(
    ("name", "checker", "write"), CASES, ids=[f"{a}-{b.name}-{c.__name__}" for a, b, c in CASES]
)
def test_a_solvers_proof_is_verified_and_half_of_it_is_not(name, checker, write, proofs, tmp_path):
    formula, proof = proofs[name]
    (tmp_path / "a.cnf").write_bytes(write_dimacs(formula))
    (tmp_path / "a.drat").write_bytes(write(proof))
    assert checker.check(tmp_path / "a.cnf", tmp_path / "a.drat", LIMITS).verdict == "verified"
    additions = np.flatnonzero(~proof.deletion & (np.diff(proof.starts) > 0))
    half = proof
    for step in additions[len(additions) // 3 :][::-1]:
        half = without(half, step)
    (tmp_path / "a.drat").write_bytes(write(half))
    assert checker.check(tmp_path / "a.cnf", tmp_path / "a.drat", LIMITS).verdict == "refuted"
