"""The certifier on cases whose answer is known by hand, and against counting."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repair_cases import LIN_0127, ROUND_1, ROUND_2, drawn, market_split, posed, solutions

from evolake.repair.certification.certify import Certifier
from evolake.repair.model.candidates import UNSAT, Claim, parse_candidate
from evolake.repair.model.problems import problem_of

TWO = {"x1": (0, 9), "x2": (0, 9)}


def judged(problem, candidate, certifier=None) -> dict:
    """What the command prints for a candidate given as text or as an object."""
    text = candidate if isinstance(candidate, str) else json.dumps(candidate)
    return (certifier or Certifier()).certify(problem, parse_candidate(text, problem)).as_dict()


def verdict(problem, candidate) -> tuple:
    result = judged(problem, candidate)
    return result["verdict"], result["core"], result["violated"]


def test_the_papers_example_round_one_breaks_one_constraint():
    assert judged(problem_of(LIN_0127), ROUND_1) == {
        "verdict": "refuted",
        "core": ["c2"],
        "violated": ["c2"],
        "reason": "the assignment violates c2",
    }


def test_the_papers_example_round_two_leaves_its_domain_and_is_refuted():
    assert verdict(problem_of(LIN_0127), ROUND_2) == ("refuted", ["dom:x1"], ["dom:x1"])


def test_the_papers_example_is_unsatisfiable_by_one_constraint_and_two_bounds():
    assert verdict(problem_of(LIN_0127), {"status": "unsat"}) == ("certified", ["c2", "dom:x1", "dom:x2"], [])


def test_a_satisfying_assignment_is_certified():
    assert verdict(
        posed(TWO, ({"x1": 1, "x2": 2}, "=", 7)), {"status": "sat", "assignment": {"x1": 1, "x2": 3}}
    ) == ("certified", [], [])


def test_three_violations_are_listed_and_one_is_the_core():
    problem = posed(TWO, ({"x1": 1}, ">=", 5), ({"x2": 1}, ">=", 5), ({"x1": 1, "x2": 1}, ">=", 10))
    word, core, violated = verdict(problem, {"status": "sat", "assignment": {"x1": 0, "x2": 0}})
    assert (word, len(core), violated) == ("refuted", 1, ["c1", "c2", "c3"])
    assert set(core) < set(violated)


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        ({"status": "sat", "assignment": {"x1": 1}}, "the assignment lacks x2"),
        ({"status": "sat", "assignment": {"x1": 1, "x2": 1, "x3": 1}}, '"x3" is no variable of the problem'),
        ({"status": "sat", "assignment": {"x1": 1.5, "x2": 1}}, "x1 must be an integer (got 1.5)"),
        ({"status": "sat", "assignment": {"x1": 3.0, "x2": 1}}, "x1 must be an integer (got 3.0)"),
        ({"status": "sat", "assignment": {"x1": True, "x2": 1}}, "x1 must be an integer (got true)"),
        ({"status": "sat", "assignment": {"x1": "3", "x2": 1}}, 'x1 must be an integer (got "3")'),
        ({"status": "sat", "assignment": {"x1": None, "x2": 1}}, "x1 must be an integer (got null)"),
        ('{"status": "sat", "assignment": {"x1": NaN, "x2": 1}}', "x1 must be an integer (got NaN)"),
        (
            {"status": "sat", "assignment": [1, 1]},
            "`assignment` must be an object from variable to integer (got [1, 1])",
        ),
        ({"status": "sat"}, "`assignment` must be an object from variable to integer (got null)"),
        (
            {"status": "unsat", "assignment": {}},
            '"assignment" does not belong in a candidate of status unsat',
        ),
        ({"status": "unsat", "core": ["c1"]}, '"core" does not belong in a candidate of status unsat'),
        ({"status": "SAT", "assignment": {"x1": 1, "x2": 1}}, '`status` must be sat or unsat (got "SAT")'),
        ({"assignment": {"x1": 1, "x2": 1}}, "`status` must be sat or unsat (got null)"),
        ([], "the candidate is a JSON list, not an object"),
        ('{"status": "unsat", "status": "sat"}', "the candidate is not JSON: an object names one key twice"),
        ("unsat", "the candidate is not JSON: Expecting value: line 1 column 1 (char 0)"),
        ("", "the candidate is not JSON: Expecting value: line 1 column 1 (char 0)"),
    ],
)
def test_anything_else_is_malformed(candidate, reason):
    assert judged(posed(TWO), candidate) == {
        "verdict": "malformed",
        "core": [],
        "violated": [],
        "reason": reason,
    }


def test_bytes_that_are_no_text_and_endless_nesting_are_malformed():
    problem = posed(TWO)
    for text in (
        b"\xff\xfe{}",
        "[" * 100_000,
        '{"status": "sat", "assignment": {"x1": ' + "9" * 5000 + ', "x2": 1}}',
    ):
        assert Certifier().certify(problem, parse_candidate(text, problem)).verdict == "malformed"


@pytest.mark.parametrize("huge", [10**30, -(10**30), 2**63, 10**4000])
def test_a_huge_integer_is_refuted_by_its_bound(huge):
    assert verdict(posed(TWO), {"status": "sat", "assignment": {"x1": huge, "x2": 1}}) == (
        "refuted",
        ["dom:x1"],
        ["dom:x1"],
    )


def test_a_huge_integer_inside_a_huge_domain_is_computed_exactly():
    problem = posed({"x1": (0, 10**30), "x2": (0, 9)}, ({"x1": 10**10, "x2": 1}, "=", 10**40 + 3))
    assert verdict(problem, {"status": "sat", "assignment": {"x1": 10**30, "x2": 3}}) == ("certified", [], [])
    assert verdict(problem, {"status": "sat", "assignment": {"x1": 10**30, "x2": 4}}) == (
        "refuted",
        ["c1"],
        ["c1"],
    )


def test_a_wrong_claim_of_unsat_is_refuted_without_a_counter_model():
    problem = posed(TWO, ({"x1": 7, "x2": 1}, "=", 44))
    assert judged(problem, {"status": "unsat"}) == {
        "verdict": "refuted",
        "core": [],
        "violated": [],
        "reason": "the problem is satisfiable",
    }


def test_what_takes_too_long_is_unknown_and_the_next_problem_is_judged_as_ever():
    certifier = Certifier(timeout_ms=100)
    result = judged(market_split(), {"status": "unsat"}, certifier)
    assert result == {
        "verdict": "unknown",
        "core": [],
        "violated": [],
        "reason": "the solver could not decide the problem in 100,000 steps",
    }
    assert judged(problem_of(LIN_0127), ROUND_1, certifier)["core"] == ["c2"]


@given(seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_claims_of_unsat_agree_with_counting_and_their_cores_are_minimal(seed):
    problem = drawn(seed, most_variables=3)
    result = Certifier().certify(problem, UNSAT)
    assert result.verdict == ("refuted" if solutions(problem) else "certified")
    if result.verdict == "certified":
        assert solutions(problem, result.core) == 0
        for member in result.core:
            others = [name for name in result.core if name != member]
            assert Certifier().certify(only(problem, others), UNSAT).verdict == "refuted", (
                f"{member} can be dropped from {result.core}"
            )


def only(problem, kept):
    """The problem with the named constraints and bounds; a bound that is not kept is replaced by one out of
    reach."""
    from dataclasses import replace

    variables = tuple(
        item if item.bound_id in kept else replace(item, low=-(10**6), high=10**6)
        for item in problem.variables
    )
    return replace(
        problem,
        variables=variables,
        constraints=tuple(item for item in problem.constraints if item.id in kept),
    )


@given(seed=st.integers(0, 10**6), values=st.lists(st.integers(-4, 6), min_size=4, max_size=4))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_assignments_agree_with_plain_evaluation_and_the_core_is_one_violation(seed, values):
    problem = drawn(seed)
    assignment = {item.name: value for item, value in zip(problem.variables, values, strict=False)}
    result = CERTIFIER.certify(problem, Claim("sat", assignment))
    broken = problem.violated(assignment)
    assert (result.verdict, list(result.violated)) == ("refuted" if broken else "certified", broken)
    assert len(result.core) == min(1, len(broken)) and set(result.core) <= set(broken)
    assert Certifier().certify(problem, Claim("sat", assignment)) == result, (
        "a core must not depend on what the solver saw before"
    )


CERTIFIER = Certifier()
