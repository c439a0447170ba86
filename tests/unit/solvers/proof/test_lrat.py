"""LRAT is read to the last byte and checked along its hints; which of two formats a proof has follows from
one rule."""

import base64
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proof_cases import DRAT_STEPS as STEPS
from proof_cases import (
    LITERAL,
    hints_for,
    planted,
    proof_of,
    random_problem,
    random_steps,
    satisfiable,
    text_of,
)
from proof_kit import pigeons

from evolake.reading.formula import formula_of
from evolake.solvers.proof.drat import BadProof, Proof, read_proof, refute, write_binary, write_text
from evolake.solvers.proof.lrat import (
    LratProof,
    has_lrat_shape,
    read_any,
    read_lrat_binary,
    read_lrat_text,
    refute_by_hints,
    write_lrat_binary,
    write_lrat_text,
)

HINT = st.integers(1, 2**55).flatmap(lambda name: st.sampled_from([name, -name]))
LRAT_STEPS = st.lists(
    st.one_of(
        st.tuples(st.lists(LITERAL, max_size=4), st.lists(HINT, min_size=1, max_size=4)),
        st.tuples(st.none(), st.lists(st.integers(1, 2**55), max_size=4)),
    ),
    min_size=1,
    max_size=8,
).map(lambda steps: [(9 + 2 * number, *step) for number, step in enumerate(steps)])
HARD = [[1, 2, 3], [1, 2, -3], [1, -2, 4], [1, -2, -4], [-1, 2, 5], [-1, 2, -5], [-1, -2, 3], [-1, -2, -3]]
"""Unsatisfiable; no unit, so that every refutation has lemmas."""


def steps_of(proof):
    return [(name or None, literals if name else None, hints) for name, literals, hints in proof.steps]


def plain(steps):
    return [(name if literals is not None else None, literals, hints) for name, literals, hints in steps]


def refutation_of(formula):
    """A refutation of HARD by lemmas of one and two literals, every hint of which is needed."""
    clauses, steps = dict(enumerate(formula, 1)), []
    for literals in ([1, 2], [1, -2], [1], [-1, 2], [2], []):
        name, hints = len(clauses) + 1, hints_for(clauses, literals)
        assert hints is not None
        steps.append((name, literals, hints))
        clauses[name] = literals
    return steps


@given(LRAT_STEPS)
def test_both_forms_give_the_proof_back(steps):
    text = read_lrat_text(text_of(steps))
    assert steps_of(text) == plain(steps)
    assert steps_of(read_lrat_binary(write_lrat_binary(text))) == plain(steps)
    last = next((number for number, (_, literals, _) in enumerate(steps, 1) if literals == []), len(steps))
    assert steps_of(read_lrat_text(write_lrat_text(text))) == plain(steps)[:last]


@given(st.binary(max_size=60))
def test_arbitrary_bytes_are_a_proof_or_a_refusal_and_never_anything_else(data):
    for declared in ("auto", "lrat-text", "lrat-binary"):
        try:
            proof = read_any(data, declared)
        except BadProof:
            continue
        assert isinstance(proof, LratProof) or declared == "auto"


@given(STEPS, LRAT_STEPS)
def test_neither_format_is_taken_for_the_other(drat, lrat):
    """One step a line: no DRAT text has the shape of LRAT, and no LRAT text is read as DRAT. Binary DRAT
    always reads as DRAT."""
    assert not has_lrat_shape(write_text(proof_of(drat)))
    assert isinstance(read_any(write_text(proof_of(drat))), Proof)
    assert isinstance(read_any(write_binary(proof_of(drat))), Proof)
    assert isinstance(read_any(text_of(lrat)), LratProof)
    if any(literals == [] for _, literals, _ in lrat):
        with pytest.raises(BadProof):
            read_any(text_of(lrat), "drat-text")


@pytest.mark.parametrize(
    ("data", "name", "lrat"),
    [
        (b"2 0 0", "", False),
        (b"d 1 2 0\n", "", False),
        (b"", "", False),
        (b"5 2 0 1 2 0\n", "", True),
        (b"5 d 2 0\n", "", True),
        (b"5 2 0 1 2 0 6 0 5 3 4 0\n", "", False),
        (b"6 2 0 1 2 0\n5 0 6 3 4 0\n", "", False),
        (b"5 0 0\n", "", False),
        (b"5 0 0\n", "x.lrat", True),
        (b"5 0 0\n", "x.lrat.gz", True),
        (b"a\x0a\x04\x00\x02\x04\x00", "", True),
        (b"a\x0a\x04\x00", "", False),
        (b"d\x02\x00", "", False),
        (b"d\x02\x00", "x.lrat", True),
    ],
)
def test_the_format_follows_from_name_and_bytes(data, name, lrat):
    assert isinstance(read_any(data, "auto", name), LratProof if lrat else Proof)


def test_a_refutation_with_hints_is_verified():
    assert refute_by_hints(formula_of(5, HARD), read_lrat_text(text_of(refutation_of(HARD)))) == (
        True,
        "6 steps, each by its hints",
    )


def test_every_hint_of_it_is_needed_and_in_its_place():
    """The last step has no way out by RAT: with a hint less, one of no clause, or in another order it is
    refuted."""
    steps, formula = refutation_of(HARD), formula_of(5, HARD)
    name, literals, hints = steps[-1]
    faults = [hints[:place] + hints[place + 1 :] for place in range(len(hints))]
    faults += [
        [*hints[:place], other, *hints[place + 1 :]]
        for place in range(len(hints))
        for other in (name, name + 9)
    ]
    faults += [hints[::-1], [-hint for hint in hints], [name], []]
    for fault in faults:
        ok, reason = refute_by_hints(formula, read_lrat_text(text_of([*steps[:-1], (name, literals, fault)])))
        assert not ok and reason.startswith("step 6 (clause 14): "), fault


def as_drat(formula, proof):
    """The steps of an LRAT proof as DRAT, deletions by what they delete."""
    clauses, lines = dict(enumerate(formula, 1)), []
    for name, literals, hints in proof.steps:
        if name:
            clauses[name] = literals
            lines.append(" ".join(map(str, [*literals, 0])))
        else:
            lines += [
                "d " + " ".join(map(str, [*gone, 0])) for hint in hints if (gone := clauses.pop(hint, None))
            ]
    return read_proof("\n".join(lines).encode(), "drat-text")


def test_no_proof_with_hints_refutes_a_satisfiable_formula():
    """And what is verified is a DRAT proof by the other checker's word, for all of whose additions it finds
    the reason without hints."""
    verified = with_rat = faulty = 0
    for seed in range(4000):
        variables, clauses, _ = random_problem(seed)
        dice = random.Random(seed)
        steps = random_steps(variables, clauses, dice)
        if dice.random() < 0.5:
            steps = planted(steps, dice)
        formula, proof = formula_of(variables, clauses), read_lrat_text(text_of(steps))
        ok, _ = refute_by_hints(formula, proof)
        assert not (ok and satisfiable(variables, clauses)), seed
        if ok and all(literals is not None for _, literals, _ in steps):
            assert refute(formula, as_drat(clauses, proof), "python")[0], seed
        verified += ok
        with_rat += ok and any(
            hint < 0 for _, literals, hints in steps if literals is not None for hint in hints
        )
        faulty += not ok and not satisfiable(variables, clauses)
    assert verified > 400 and with_rat > 20 and faulty > 100, (verified, with_rat, faulty)


CADICAL = b"""\
23 -11 -12 0 22 13 12 21 1 3 8 0
24 -7 -12 0 19 13 8 14 1 2 6 0
25 -12 0 13 19 22 24 3 9 15 1 2 5 0
26 -8 0 25 9 15 21 4 11 17 1 2 7 0
27 -7 0 25 8 14 20 4 12 18 1 2 7 0
28 9 0 27 26 3 0
29 -3 0 28 10 0
30 -6 0 28 16 0
31 -1 0 30 25 5 11 2 4 18 0
32 2 0 31 29 1 0
33 -5 0 32 6 0
34 -11 0 32 12 0
35 4 0 33 30 2 0
36 10 0 34 25 4 0
37 0 35 36 17 0
"""
CADICAL_BINARY = base64.b64decode(
    "YS4XGQAsGhgqAgYQAGEwDxkAJhoQHAIEDABhMhkAGiYsMAYSHgIECgBhNBEAMhIeKggWIgIEDgBhNg8AMhAcKAgYJAIEDgBhOBIANjQGAGE6BwA4FABhPA0AOCAAYT4DAD"
    "wyChYECCQAYUAEAD46AgBhQgsAQAwAYUQXAEAYAGFGCABCPAQAYUgUAEQyCABhSgBGSCIA"
)
"""What CaDiCaL 1.9.5 writes of four pigeons in three holes, by `--lrat --no-binary` and by `--lrat`."""
PIGEONS = [[int(literal) for literal in clause.split()] for clause in pigeons(3).split(",")]


@pytest.mark.parametrize("data", [CADICAL, CADICAL_BINARY], ids=["text", "binary"])
def test_proofs_of_cadical_are_verified_undeclared(data):
    assert refute_by_hints(formula_of(12, PIGEONS), read_any(data)) == (True, "15 steps, each by its hints")


@pytest.mark.parametrize("gone", range(len(PIGEONS)))
def test_such_a_proof_is_refuted_of_a_formula_with_one_clause_less(gone):
    """The clause is made a tautology, so that all identifiers stay; four pigeons with one rule less have
    places."""
    clauses = [[1, -1] if place == gone else clause for place, clause in enumerate(PIGEONS)]
    assert not refute_by_hints(formula_of(12, clauses), read_any(CADICAL))[0]


def test_no_flipped_bit_of_it_verifies_a_satisfiable_formula():
    clauses = formula_of(12, [[1, -1], *PIGEONS[1:]])
    read = 0
    for data in (CADICAL, CADICAL_BINARY):
        for place in range(8 * len(data)):
            flipped = bytearray(data)
            flipped[place // 8] ^= 1 << place % 8
            try:
                proof = read_any(bytes(flipped))
            except BadProof:
                continue
            if isinstance(proof, LratProof):
                read += 1
                assert not refute_by_hints(clauses, proof)[0], place
    assert read > 500


@settings(max_examples=200)
@given(STEPS)
def test_text_of_drat_that_is_declared_lrat_is_not_read(steps):
    text = write_text(proof_of(steps))
    if text:
        with pytest.raises(BadProof, match="no step of LRAT"):
            read_any(text, "lrat-text")
    with pytest.raises(BadProof):
        read_any(write_binary(proof_of([*steps, (False, [])])), "lrat-binary")
