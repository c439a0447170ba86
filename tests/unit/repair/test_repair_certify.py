"""The certifier on cases whose answer is known by hand, and against counting."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repair_cases import LIN_0127, ROUND_1, ROUND_2, drawn, market_split, posed, solutions

from evolake.errors import MachineryError
from evolake.repair import conflicts
from evolake.repair.certifier import Certifier, Core
from evolake.repair.conflicts import Conflict, agrees, certify_whole, find_conflict
from evolake.repair.generator import generate
from evolake.repair.problems import UNSAT, Claim, Malformed, Problem, parse_candidate, problem_of

ROWS = json.loads(Path(__file__).with_name("malformed_rows.json").read_text())
"""Test -> its rows."""

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


@pytest.mark.parametrize(("candidate", "reason"), ROWS["anything_else_is_malformed"])
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


# Whole conflicts of refuted assignments: none of their members to spare, and right by counting, which
# neither solver nor enumeration knows of.


TOGETHER = posed(TWO, ({"x1": 1, "x2": 1}, ">=", 8), ({"x1": 1, "x2": -1}, ">=", 3), ({"x2": 1}, "<=", 7))


def whole(problem: Problem, assignment: dict[str, int], certifier: Certifier = CERTIFIER) -> tuple[Any, ...]:
    result = certify_whole(certifier, problem, Claim("sat", assignment))
    return result.core, result.values


def counted(problem: Problem, assignment: dict[str, int], conflict: Conflict) -> int:
    """Assignments within the domains that satisfy the constraints of a conflict and have its values, counted
    one by one."""
    variables = tuple(
        replace(item, low=assignment[item.name], high=assignment[item.name])
        if item.name in conflict.values
        else item
        for item in problem.variables
    )
    kept = tuple(item for item in problem.constraints if item.id in conflict.constraints)
    return solutions(replace(problem, variables=variables, constraints=kept))


@cache
def generated() -> tuple[Problem, ...]:
    return tuple(item.problem for item in generate(15, 3))


def test_constraints_that_exclude_a_value_only_together_are_in_one_conflict():
    for x2 in (2, 3):  # c1 is violated, c2 is; the conflict is the same
        assignment = {"x1": 5, "x2": x2}
        assert len(TOGETHER.violated(assignment)) == 1
        assert whole(TOGETHER, assignment) == (("c1", "c2"), ("x1",))
    assert CERTIFIER.certify(TOGETHER, Claim("sat", {"x1": 5, "x2": 2})).core == ("c1",), (
        "beside the present core, not instead of it"
    )


@pytest.mark.parametrize(
    ("domains", "assignment", "values"),
    [(TWO, {"x1": 14, "x2": 9}, ("x1",)), ({"x1": (5, 2)}, {"x1": 3}, ())],
)
def test_a_value_outside_its_domain_is_a_conflict_with_that_bound(domains, assignment, values):
    assert whole(posed(domains, ({"x1": 1}, "=", 14)), assignment) == (("dom:x1",), values)


def test_what_is_no_refuted_assignment_is_certified_as_ever():
    for candidate in (Claim("sat", {"x1": 6, "x2": 3}), UNSAT, Malformed("no JSON")):
        result = certify_whole(CERTIFIER, TOGETHER, candidate)
        assert result == CERTIFIER.certify(TOGETHER, candidate) and result.values is None


@given(seed=st.integers(0, 10**6), values=st.lists(st.integers(-2, 4), min_size=4, max_size=4))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_a_conflict_has_no_solution_by_counting_and_one_without_each_member(seed, values):
    problem = drawn(seed)
    assignment = {item.name: value for item, value in zip(problem.variables, values, strict=False)}
    inside = all(item.low <= assignment[item.name] <= item.high for item in problem.variables)
    if not inside or not problem.violated(assignment):
        return
    result = find_conflict(CERTIFIER, problem, assignment)
    assert result is not None and result.constraints
    assert counted(problem, assignment, result) == 0
    for name in result.constraints:
        less = replace(
            result, constraints=tuple(constraint for constraint in result.constraints if constraint != name)
        )
        assert counted(problem, assignment, less) > 0, f"{name} can be dropped from {result}"
    for name in result.values:
        less = replace(result, values=tuple(value for value in result.values if value != name))
        assert counted(problem, assignment, less) > 0, f"{name} can be dropped from {result}"
    assert find_conflict(Certifier(), problem, assignment) == result, (
        "a conflict must not depend on what the solver saw before"
    )


@given(place=st.integers(0, 14), shares=st.lists(st.floats(0, 1), min_size=8, max_size=8))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_a_conflict_does_not_tell_whether_the_problem_has_a_solution(place, shares):
    """No constraint of the benchmark is out of reach by itself; so a conflict names a value in problems of
    either label."""
    problem = generated()[place]
    assignment = {
        item.name: item.low + round(share * (item.high - item.low))
        for item, share in zip(problem.variables, shares, strict=False)
    }
    if problem.violated(assignment):
        result = find_conflict(CERTIFIER, problem, assignment)
        assert result is not None and result.values and problem.label in ("sat", "unsat")


def test_conflicts_of_the_benchmark_have_several_constraints_in_problems_of_either_label():
    sizes: dict[Any, set[int]] = {"sat": set(), "unsat": set()}
    for problem in generated():
        assignment = {item.name: item.low for item in problem.variables}
        result = find_conflict(CERTIFIER, problem, assignment)
        if result is not None:
            sizes[problem.label].add(len(result.constraints))
    assert all(max(size) > 1 for size in sizes.values())


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (Conflict(("c1", "c2", "c3"), ("x1",)), "no solution of c1, c2"),
        (Conflict(("c1",), ("x1",)), "a solution of c1, value:x1"),
    ],
)
def test_the_enumeration_finds_a_conflict_that_is_none_or_not_minimal(wrong, said):
    assert agrees(TOGETHER, {"x1": 5, "x2": 2}, Conflict(("c1", "c2"), ("x1",)))
    with pytest.raises(MachineryError, match="disagree") as summary:
        agrees(TOGETHER, {"x1": 5, "x2": 2}, wrong)
    assert said in str(summary.value)


@pytest.mark.parametrize("members", [("c1", "value:x1"), ("c1", "c2", "c3", "value:x1")])
def test_a_solver_that_errs_stops_the_machinery_before_anyone_sees_the_conflict(monkeypatch, members):
    monkeypatch.setattr(conflicts, "minimal_core", lambda *_: Core(members, True))
    with pytest.raises(MachineryError, match="disagree"):
        certify_whole(CERTIFIER, TOGETHER, Claim("sat", {"x1": 5, "x2": 2}))


def test_what_the_enumeration_cannot_look_through_is_not_given_out_and_said():
    assert find_conflict(CERTIFIER, TOGETHER, {"x1": 5, "x2": 2}, max_visits=3) is None
    huge = posed({"x1": (0, 10**30), "x2": (0, 9)}, ({"x1": 10**10, "x2": 1}, "=", 10**40 + 3))
    result = certify_whole(CERTIFIER, huge, Claim("sat", {"x1": 10**30, "x2": 4}))
    assert (result.verdict, result.core, result.values) == ("refuted", ("c1",), None)
    assert result.reason == "the assignment violates c1; no whole conflict was agreed on within the limits"


def test_what_takes_the_solver_too_long_leaves_the_core_and_the_next_problem_is_judged_as_ever():
    certifier, problem = Certifier(timeout_ms=50), market_split()
    result = certify_whole(certifier, problem, Claim("sat", {item.name: 1 for item in problem.variables}))
    assert result.verdict == "refuted" and len(result.core) >= 1
    assert whole(TOGETHER, {"x1": 5, "x2": 2}, certifier) == (("c1", "c2"), ("x1",))
