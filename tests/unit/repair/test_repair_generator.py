"""The generator: labels that hold, shares that are kept, conflicts of the planned sort, and no tell-tale
shape."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repair_cases import drawn, posed, solutions

from evolake.errors import MachineryError
from evolake.repair import labels as labels_module
from evolake.repair.certifier import Certifier
from evolake.repair.generator import Labelled, generate, planned_labels
from evolake.repair.labels import Label, certify_label, enumerate_feasible
from evolake.repair.problems import UNSAT, parse_problem
from evolake.repair.tables import PROBLEMS


@pytest.fixture(scope="module")
def made() -> list[Labelled]:
    return list(generate(60, 0))


def test_three_in_five_are_satisfiable_in_every_block_of_five():
    plan = planned_labels(500, 3)
    assert [plan[start : start + 5].count("sat") for start in range(0, 500, 5)] == [3] * 100


def test_a_smaller_set_is_the_start_of_a_larger_one(made):
    assert list(generate(12, 0)) == made[:12]
    assert list(generate(12, 0, start=7)) == made[7:12]
    assert list(generate(3, 1)) != made[:3]


def test_problems_have_the_planned_sizes_and_certified_labels(made):
    assert [item.label.status for item in made] == planned_labels(60, 0)
    for item in made:
        assert item.problem.label == item.label.status
        assert 3 <= len(item.problem.variables) <= 8
        assert item.label.certified_by == ("z3", "interval_enumeration")
        assert parse_problem(item.problem.to_json()) == item.problem


def test_an_unsatisfiable_problem_has_a_conflict_of_two_to_four_constraints_and_none_of_one(made):
    certifier, sizes = Certifier(), set()
    for item in made:
        if item.label.status == "unsat":
            sizes.add(item.label.core_size)
            for constraint in item.problem.constraints:
                alone = replace(item.problem, constraints=(constraint,))
                assert certifier.certify(alone, UNSAT).verdict == "refuted", (
                    f"{constraint} alone contradicts the bounds"
                )
            kept = [element for element in item.problem.constraints if element.id in item.label.core]
            assert len(kept) == item.label.core_size
            for dropped in kept:
                rest = replace(
                    item.problem, constraints=tuple(element for element in kept if element != dropped)
                )
                assert certifier.certify(rest, UNSAT).verdict == "refuted", "the core is not minimal"
    assert sizes == {2, 3, 4}


def test_large_coefficients_do_not_give_the_label_away(made):
    heavy = {
        item.label.status
        for item in made
        if any(abs(factor) > 5 for constraint in item.problem.constraints for _, factor in constraint.terms)
    }
    assert heavy == {"sat", "unsat"}


def test_the_row_holds_what_the_table_asks(made):
    frame = PROBLEMS.frame(item.row() for item in made)
    assert PROBLEMS.repeated_keys(frame).is_empty()
    assert frame.row(0, named=True) == {
        "problem_id": "lin-0000",
        "suite": "lia",
        "variation": "none",
        "base_id": "lin-0000",
        "k": len(made[0].problem.variables),
        "m": len(made[0].problem.constraints),
        "label": made[0].label.status,
        "certified_by": ["z3", "interval_enumeration"],
        "core_size": made[0].label.core_size,
        "seed": made[0].problem.seed,
        "json": json.dumps(made[0].problem.as_dict(), separators=(",", ":")),
    }


@given(seed=st.integers(0, 10**6))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_enumeration_agrees_with_counting(seed):
    problem = drawn(seed)
    assert enumerate_feasible(problem) == (solutions(problem) > 0)


def test_certifiers_that_disagree_stop_the_machinery(monkeypatch):
    problem = posed({"x1": (0, 9)}, ({"x1": 1}, ">=", 3))
    assert certify_label(problem, Certifier()) == Label("sat", ("z3", "interval_enumeration"))
    monkeypatch.setattr(labels_module, "enumerate_feasible", lambda *_, **__: False)
    with pytest.raises(MachineryError, match="disagree"):
        certify_label(problem, Certifier())
