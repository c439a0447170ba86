"""Rules on stored rows: each failure is named by instance and cause, and good rows pass."""

from typing import Any

import pytest

import evolake.solvers.rules  # noqa: F401
from evolake.gates.checkers import apply

ENDED = {"statuses": {"crash": "crashed", "timeout": "did not end in time"}}


def row(instance: str = "a", **values: Any) -> dict[str, Any]:
    good = {
        "instance": instance,
        "family": "f",
        "expected": "SAT",
        "status": "sat",
        "answer": "SAT",
        "certificate": "model",
        "proof_status": None,
        "conflicts": 5,
        "peak_mb": 10.0,
        "memory_mb": 256,
        "problems": "",
    }
    return {**good, **values}


def unsat(instance: str = "u", **values: Any) -> dict[str, Any]:
    return row(
        instance,
        **{"expected": "UNSAT", "status": "unsat", "answer": "UNSAT", "proof_status": "verified", **values},
    )


def judged(
    check: str, rows: list[dict[str, Any]], base: list[dict[str, Any]] | None = None, **parameters: Any
) -> str | None:
    finding = apply(check, {"runs": rows, "base_runs": base or []}, parameters)
    return finding.reason if finding else None


GOOD = [row(), row("a~shuffled"), unsat(), unsat("u~renamed")]


@pytest.mark.parametrize(
    ("check", "parameters"),
    [
        ("solvers.runs", {"least": 2}),
        ("solvers.ended", ENDED),
        ("solvers.answers", {}),
        ("solvers.copies", {}),
        ("solvers.models", {}),
        ("solvers.proofs", {}),
        ("solvers.answered", {"least_sat": 1, "least_unsat": 1}),
        ("solvers.repeatable", {"counters": ["conflicts"]}),
        ("solvers.memory", {**ENDED, "most_growth": 2.0, "slack_mb": 1}),
    ],
)
def test_good_rows_pass(check, parameters):
    assert judged(check, GOOD, **parameters) is None


@pytest.mark.parametrize(
    ("check", "rows", "parameters", "reason"),
    [
        ("solvers.runs", GOOD, {"least": 3}, "only 2 instances were run; at least 3 are wanted"),
        (
            "solvers.ended",
            [row(), row("b", status="crash", problems="signal 11")],
            ENDED,
            "b: crashed [signal 11]",
        ),
        (
            "solvers.answers",
            [unsat("b", expected="SAT"), unsat("c", expected="SAT")],
            {},
            "b: answered UNSAT, but the instance is SAT; 1 more runs likewise",
        ),
        (
            "solvers.copies",
            [row(), row("a~renamed", answer="UNSAT")],
            {},
            "a~renamed: answered UNSAT on this copy, but otherwise on the file",
        ),
        (
            "solvers.models",
            [row(status="wrong", certificate=None)],
            {},
            "a: its model does not satisfy the formula",
        ),
        ("solvers.proofs", [unsat(proof_status=None)], {}, "u: its proof is missing"),
        (
            "solvers.proofs",
            [unsat(proof_status="unknown", problems="out of time")],
            {},
            "u: its proof is unknown [out of time]",
        ),
        (
            "solvers.proofs",
            [unsat(proof_status="unsupported", problems="it is FRAT")],
            {},
            "u: its proof is unsupported [it is FRAT]",
        ),
        (
            "solvers.sound",
            [unsat(proof_status="unsupported", problems="it is FRAT")],
            {},
            "u: its proof is unsupported [it is FRAT]",
        ),
        (
            "solvers.answered",
            [row(), unsat(answer=None)],
            {"least_sat": 1, "least_unsat": 1},
            "answered 0 of 1 UNSAT instances within the limits; at least 1 are wanted",
        ),
        (
            "solvers.repeatable",
            [row(), row(conflicts=7)],
            {"counters": ["conflicts"]},
            "a: two runs of one file gave 5 and 7 conflicts",
        ),
        (
            "solvers.repeatable",
            [row(proof_bytes=900), row(proof_bytes=901)],
            {"counters": ["proof_bytes", "conflicts"]},
            "a: two runs of one file gave 900 and 901 proof bytes",
        ),
        (
            "solvers.memory",
            [row(family="growing", status="crash")],
            {**ENDED, "most_growth": 2.0, "slack_mb": 1},
            "a: crashed over a growing instance under a limit of 256 MB",
        ),
    ],
)
def test_bad_rows_are_named(check, rows, parameters, reason):
    assert judged(check, rows, **parameters) == reason


def test_memory_is_compared_with_that_of_the_base():
    grown, base = [row(family="growing", peak_mb=90.0)], [row(family="growing", peak_mb=20.0)]
    assert (
        judged("solvers.memory", grown, base, statuses={}, most_growth=4.0, slack_mb=5)
        == "a: took 90 MB where its base takes 20"
    )
    assert judged("solvers.memory", grown, base, statuses={}, most_growth=4.0, slack_mb=10) is None


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        ({}, None),
        (
            {"ok": False, "reason": "core/Solver.cc:9: error: expected ';'"},
            "core/Solver.cc:9: error: expected ';'",
        ),
        ({"cpu_s": 61.0}, "the build took 61 cpu seconds; at most 60 are allowed"),
        ({"warnings": 9}, "the build gave 9 warnings; at most 8 are allowed"),
    ],
)
def test_a_build_is_judged_by_its_row(build, reason):
    evidence = {
        "build": {"ok": True, "reason": "", "cpu_s": 4.0, "warnings": 0, "log_sha": "f" * 64, **build}
    }
    finding = apply("solvers.build", evidence, {"most_cpu_s": 60, "most_warnings": 8})
    assert (finding.reason if finding else None) == reason


def filled(number: int = 1, **values: Any) -> dict[str, Any]:
    return unsat(f"g~filled{number}", **{"family": "filled", "conflicts": 500, "proof_bytes": 9000, **values})


PLAIN = unsat("g", family="growing", conflicts=500, proof_bytes=9000)
FILL = {"counters": ["proof_bytes", "conflicts"]}


@pytest.mark.parametrize(
    ("rows", "base", "reason"),
    [
        ([PLAIN, filled(), filled(2)], [PLAIN, filled()], None),
        (
            [PLAIN, filled(), filled(2, conflicts=501)],
            [PLAIN, filled()],
            "g: it depends on memory that it has not written: 500 conflicts, and 501 if such memory is "
            "filled",
        ),
        (
            [PLAIN, filled(proof_bytes=1)],
            [],
            "g: it depends on memory that it has not written: 9000 proof bytes, and 1 if such memory is "
            "filled",
        ),
        (
            [PLAIN, filled(status="crash", answer=None)],
            [PLAIN, filled()],
            "g: it crashes if memory that it has not written is filled",
        ),
        ([PLAIN, filled(conflicts=501)], [PLAIN, filled(conflicts=7)], None),
        ([PLAIN, filled(conflicts=501)], [PLAIN], None),
        ([PLAIN, filled(status="timeout", answer=None, conflicts=None)], [PLAIN, filled()], None),
        ([{**PLAIN, "answer": None, "status": "timeout"}, filled()], [PLAIN, filled()], None),
        ([PLAIN, {**PLAIN, "conflicts": 400}, filled(conflicts=501)], [PLAIN, filled()], None),
    ],
    ids=[
        "same",
        "conflicts",
        "no seed",
        "crash",
        "its seed too",
        "not known of its seed",
        "too slow filled",
        "too slow",
        "not repeatable",
    ],
)
def test_a_search_that_depends_on_unwritten_memory_is_found(rows, base, reason):
    assert judged("solvers.initialised", rows, base, **FILL) == reason


def proved(conflicts: int | None, proof_bytes: int, name: str = "g") -> dict[str, Any]:
    return unsat(name, family="growing", conflicts=conflicts, proof_bytes=proof_bytes)


@pytest.mark.parametrize(
    ("rows", "base", "reason"),
    [
        ([proved(2000, 100_000)], [proved(1000, 20_000)], None),
        (
            [proved(2000, 100_000)],
            [proved(1000, 10_000)],
            "it writes 50 bytes of proof for each conflict, and its seed 10 on the same 1 formulas; at "
            "most 4 times as much is allowed",
        ),
        ([proved(999, 100_000)], [proved(1000, 10_000)], None),
        ([proved(2000, 100_000)], [], None),
        ([proved(None, 100_000)], [proved(1000, 10_000)], "g: it reports no conflicts, and its seed does"),
        ([proved(None, 100_000)], [proved(None, 10_000)], None),
        ([proved(2000, 20_000), proved(9000, 900_000, "h")], [proved(1000, 10_000)], None),
    ],
    ids=[
        "longer",
        "too long",
        "too few conflicts",
        "no seed",
        "silent",
        "both silent",
        "only what both answered",
    ],
)
def test_the_growth_of_proofs_is_bounded_by_the_seeds(rows, base, reason):
    assert judged("solvers.proof_growth", rows, base, most_growth=4.0, least_conflicts=1000) == reason
