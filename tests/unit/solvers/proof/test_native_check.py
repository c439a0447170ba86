"""evolake's checker in C: no false "verified", no lost proof, and what it leaves to the others."""

from typing import Any

import pytest
from native_fuzz import Fuzz
from proof_kit import SQUARE, dimacs

from evolake.errors import MachineryError
from evolake.jail import NativeOutcome
from evolake.solvers.proof import cache, native_check
from evolake.solvers.proof.checkers import CHECKERS
from evolake.solvers.proof.checking import check_proof
from evolake.solvers.proof.native_check import read_answer, ready_program
from evolake.solvers.proof.verdict import ProofLimits

LIMITS = ProofLimits(cpu_s=3, memory_mb=100)
BAD_LEMMA = b"3 0\n2 0\n0\n"
"""Of UNNEEDED: the first lemma is neither RUP nor RAT, and the refutation does without it."""
UNNEEDED = SQUARE + ",-3 4"


@pytest.fixture
def fuzz(tmp_path, requires):
    requires("cc")
    return Fuzz(ready_program(), tmp_path)


@pytest.mark.parametrize(
    ("kind", "seeds", "least"),
    [
        ("small", 500, {"verified": 150, "refused": 200}),
        ("solvers", 400, {"verified": 120, "refused": 60, "by RAT": 2}),
        ("lrat", 500, {"LRAT verified": 100, "LRAT refused": 100}),
        ("damaged", 300, {"unread": 50, "read": 50}),
    ],
)
def test_random_proofs_are_judged_as_by_the_other_checkers(kind, seeds, least, fuzz):
    for seed in range(seeds):
        getattr(fuzz, kind)(seed)
    assert {name: fuzz.counts[name] >= count for name, count in least.items()} == dict.fromkeys(
        least, True
    ), fuzz.counts


@pytest.mark.parametrize(
    ("clauses", "proof", "verified"),
    [
        ("1 2,1 2,-1 2,1 -2,-1 -2", b"d 1 2 0\n2 0\n0\n", True),
        ("1 2,1 2,-1 2,1 -2,-1 -2", b"d 1 2 0\nd 2 1 0\n2 0\n0\n", False),
        ("1,-1 2,-2 3,-3 -2", b"d 1 0\nd -1 2 0\n0\n", True),
        ("1 2,-1 2", b"2 0\nd 1 2 0\n-2 0\n0\n", False),
        ("1 2,-1 2,1 -2,-1 -2", b"d 1 2 2 0\n2 0\n0\n", False),
        ("1 2,-1 2,1 -2,-1 -2", b"1 -1 0\nd 1 -1 0\n2 0\n0\n", True),
        ("1 2,-1 2,1 -2,-1 -2,3 1 2", b"d 3 1 2 0\n4 -1 0\n-4 1 0\n2 0\n0\n", True),
        ("1 2,-1 2,1 -2,-1 -2", b"2 0\n\n", False),
    ],
    ids=[
        "one copy",
        "both copies",
        "units stay",
        "a unit lemma stays",
        "repeated literals",
        "tautology",
        "unneeded definition",
        "no empty clause",
    ],
)
def test_deletions_copies_and_tautologies(clauses, proof, verified, fuzz):
    assert fuzz.says(dimacs(clauses), proof, "drat-text").startswith("verified ") == verified


def test_a_lemma_that_nothing_needs_is_checked_by_dratify_alone(tmp_path, requires):
    """The formula is unsatisfiable either way: this is the guarantee of "verified"."""
    requires("cc")
    (tmp_path / "a.cnf").write_bytes(dimacs(UNNEEDED))
    (tmp_path / "a.drat").write_bytes(BAD_LEMMA)
    files = tmp_path / "a.cnf", tmp_path / "a.drat"
    result = check_proof(*files, spelling="drat-text")
    assert (result.verdict, result.reason, result.checker) == (
        "verified",
        "3 steps, 1 needed, each by unit propagation",
        "evolake-drat",
    )
    assert check_proof(*files, checker="dratify").verdict == "refuted"


def test_what_it_refuses_is_decided_by_the_other_checker(tmp_path, requires):
    requires("cc")
    (tmp_path / "a.cnf").write_bytes(dimacs(SQUARE))
    (tmp_path / "a.drat").write_bytes(b"0\n")
    result = check_proof(tmp_path / "a.cnf", tmp_path / "a.drat", spelling="drat-text")
    assert (result.verdict, result.checker) == ("refuted", "dratify")


def ended(
    stdout: bytes, status: Any = "ok", exit_code: int | None = 0, signal: int | None = None
) -> NativeOutcome:
    return NativeOutcome(status, exit_code, signal, {}, stdout, b"", "why", 1.0, 1.0, 1.0, "bubblewrap")


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        (ended(b"verified 2 steps\n"), "verified"),
        (ended(b"refused step 1\n"), "refuted"),
        (ended(b"unread junk\n"), "refuted"),
        (ended(b"unknown it needs more memory than there is\n"), "unknown"),
        (ended(b"verified 2 steps"), "unknown"),
        (ended(b""), "unknown"),
        (ended(b"verified 2 steps\n", exit_code=1), "unknown"),
        (ended(b"verified 2 steps\n", "killed", None, 11), "unknown"),
        (ended(b"verified 2 steps\n", "cpu"), "unknown"),
        (ended(b"verified 2 steps\nverified\n"), "unknown"),
        (ended(b"Verified 2\n"), "unknown"),
        (ended(b"verified2 steps\n"), "unknown"),
    ],
)
def test_only_a_whole_answer_is_a_verdict(outcome, verdict):
    assert read_answer(outcome, "drat", LIMITS).verdict == verdict


def test_a_program_that_cannot_be_kept_or_compiled_is_machinery(tmp_path, monkeypatch, requires):
    requires("cc")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EVOLAKE_PROOF_TOOLS", str(tmp_path / "file" / "below"))
    assert not CHECKERS["evolake"].available()
    with pytest.raises(MachineryError, match="cannot be kept"):
        ready_program()
    monkeypatch.setattr(native_check, "sources", lambda: {"main.c": b"int main(void) { return nothing; }"})
    monkeypatch.setenv("EVOLAKE_PROOF_TOOLS", str(tmp_path))
    with pytest.raises(MachineryError, match="did not compile"):
        ready_program()


def test_kept_verdicts_are_those_of_this_checker(tmp_path, monkeypatch):
    """Another version of the checker has other keys."""
    for name in ("formula", "proof"):
        (tmp_path / name).write_text(name)
    before = cache._key(tmp_path / "formula", tmp_path / "proof", False, "drat-text")
    monkeypatch.setattr(cache, "checkers_version", lambda: "another")
    assert cache._key(tmp_path / "formula", tmp_path / "proof", False, "drat-text") != before
