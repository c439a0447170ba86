"""What is called refuted is unsatisfiable: tried on random small proofs, RAT steps and deletions among them,
against all assignments."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proof_cases import random_problem, satisfiable

from evolake.reading.formula import formula_of
from evolake.solvers.proof import drat as dratify
from evolake.solvers.proof.drat import RootPropagation, read_proof, refute


def test_no_proof_refutes_a_satisfiable_formula_and_both_engines_agree():
    verified = 0
    for seed in range(3000):
        variables, clauses, proof = random_problem(seed)
        formula = formula_of(variables, clauses)
        ok, _ = refute(formula, proof)
        assert ok == refute(formula, proof, "python")[0], seed
        assert not (ok and satisfiable(variables, clauses)), seed
        verified += ok
    assert verified > 500


def test_without_the_guard_on_deletions_the_same_proofs_do(monkeypatch):
    """The danger is real: this is why `backed` exists. If it ends, the guard may go."""
    monkeypatch.setattr(dratify, "backed_steps", lambda variables, clauses, steps: steps)
    wrong = 0
    for seed in range(3000):
        variables, clauses, proof = random_problem(seed)
        wrong += refute(formula_of(variables, clauses), proof)[0] and satisfiable(variables, clauses)
    assert wrong > 0


def test_a_rat_step_after_harmless_deletions_still_counts():
    formula = formula_of(3, [[1, 2], [-1, 2], [1, -2], [-1, -2], [3, 1, 2]])
    assert refute(formula, read_proof(b"d 3 1 2 0\n4 -1 0\n-4 1 0\n2 0\n0\n"))[0]


@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=3), max_size=14))
def test_root_propagation_fixes_what_plain_propagation_fixes(clauses):
    clauses = [list(dict.fromkeys(clause)) for clause in clauses]
    clauses = [clause for clause in clauses if not any(literal ^ 1 in clause for literal in clause)]
    root = RootPropagation(5)
    for clause in clauses:
        root.add(clause)
    fixed, changed, conflict = set(), True, False
    while changed and not conflict:
        changed = False
        for clause in clauses:
            free = [literal for literal in clause if literal ^ 1 not in fixed]
            conflict = conflict or not free
            if len(free) == 1 and free[0] not in fixed:
                fixed.add(free[0])
                changed = True
    assert root.conflict == conflict
    if not conflict:
        assert {literal for literal, value in enumerate(root.true) if value} == fixed


def test_an_answer_in_another_form_is_no_verdict(monkeypatch):
    import cdclkit_native

    monkeypatch.setattr(cdclkit_native, "check_proof", lambda *arguments: (True, "fine"))
    with pytest.raises(TypeError, match="another form"):
        refute(formula_of(1, [[1], [-1]]), read_proof(b"0"))
