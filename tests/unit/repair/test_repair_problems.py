"""The form of a problem: what is read, what is refused, and the minimal core's law on any conflict."""

import pytest
from busy_host import busy_host
from hypothesis import given
from hypothesis import strategies as st
from repair_cases import LIN_0127, market_split

from evolake.errors import HostBusy, InputError
from evolake.jail import patience
from evolake.repair import certifier as certify
from evolake.repair.certifier import Certifier, minimal_core
from evolake.repair.conflicts import certify_whole
from evolake.repair.problems import UNSAT, Claim, parse_problem, problem_of


def test_a_problem_survives_its_json_form():
    problem = problem_of(LIN_0127)
    assert problem.as_dict() == LIN_0127
    assert parse_problem(problem.to_json()) == problem


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"id": ""}, "`id` cannot be used"),
        ({"variables": {}}, "`variables` cannot be used"),
        ({"variables": {"1x": [0, 9]}}, "a variable's name cannot be used"),
        ({"variables": {"x1": [0, 9.0]}}, "the domain of x1 cannot be used"),
        ({"variables": {"x1": [0]}}, "the domain of x1 cannot be used"),
        ({"constraints": None}, "`constraints` cannot be used"),
        (
            {"constraints": [{"id": "c1", "coef": {"x9": 1}, "op": "=", "rhs": 1}]},
            "constraint 1: `coef` names a variable that has no domain",
        ),
        (
            {"constraints": [{"id": "c1", "coef": {"x1": 1.5}, "op": "=", "rhs": 1}]},
            "constraint 1: `coef` cannot be used",
        ),
        (
            {"constraints": [{"id": "c1", "coef": {"x1": 1}, "op": "<", "rhs": 1}]},
            "constraint 1: `op` cannot be used",
        ),
        (
            {"constraints": [{"id": "c1", "coef": {"x1": 1}, "op": "=", "rhs": "1"}]},
            "constraint 1: `rhs` cannot be used",
        ),
        (
            {"constraints": [{"id": "dom:x1", "coef": {"x1": 1}, "op": "=", "rhs": 1}]},
            "constraint 1: `id` cannot be used",
        ),
        (
            {"constraints": [LIN_0127["constraints"][0], LIN_0127["constraints"][0]]},
            "two constraints bear one id",
        ),
        ({"label": "maybe"}, "`label` cannot be used"),
        ({"seed": 1.5}, "`seed` cannot be used"),
    ],
)
def test_what_is_no_problem_is_refused_by_name(change, what):
    with pytest.raises(InputError) as caught:
        problem_of(LIN_0127 | change)
    assert what in caught.value.what


@given(
    conflicts=st.lists(st.sets(st.sampled_from("abcdefgh")), min_size=1, max_size=4),
    order=st.permutations("abcdefgh"),
)
def test_a_core_is_a_conflict_of_which_no_member_can_be_dropped(conflicts, order):
    def conflict(part) -> bool:
        return any(conflict <= set(part) for conflict in conflicts)

    core = minimal_core(order, conflict)
    assert conflict(core.members) and core.minimal
    assert not any(conflict([other for other in core.members if other != member]) for member in core.members)
    assert list(core.members) == [member for member in order if member in core.members]


def test_an_unknown_answer_keeps_the_conflict_and_says_it_may_not_be_minimal():
    core = minimal_core("abcd", lambda part: True if len(part) == 4 else None)
    assert (core.members, core.minimal) == (("a", "b", "c", "d"), False)


# What the certifier decides follows from the steps of its solver; a clock only guards.


def judged() -> list[tuple]:
    """Verdicts on problems that are too hard for the limit, and on an easy one."""
    certifier, hard = Certifier(timeout_ms=60), market_split()
    claim = Claim("sat", {item.name: 1 for item in hard.variables})
    found = [certifier.certify(hard, UNSAT), certify_whole(certifier, hard, claim)]
    found.append(certifier.certify(problem_of(LIN_0127), UNSAT))
    return [(item.verdict, item.core, item.values, item.reason) for item in found]


def test_a_busy_host_changes_no_verdict_and_no_core():
    with busy_host():
        busy = judged()
    idle = judged()
    assert busy == idle
    assert idle[0][0] == "unknown" and idle[0][3] == "the solver could not decide the problem in 60,000 steps"


def test_a_check_that_the_clock_ends_is_repeated_until_the_steps_decide(monkeypatch):
    reference = judged()
    waits: list[None] = []
    monkeypatch.setattr(patience, "wait_for_quiet", lambda: waits.append(None))
    monkeypatch.setattr(certify, "GUARD", 0.02)
    monkeypatch.setattr(patience, "GROWTH", 100.0)
    assert judged() == reference
    assert waits, "the clock has to end a check, or nothing is tried here"


def test_a_check_that_the_clock_ends_every_time_is_no_verdict(monkeypatch):
    monkeypatch.setattr(patience, "QUIET_S", 0.0)
    monkeypatch.setattr(certify, "GUARD", 0.01)
    monkeypatch.setattr(patience, "GROWTH", 1.0)
    certifier = Certifier(timeout_ms=200)
    with pytest.raises(HostBusy, match="the certifying solver, so nothing was judged"):
        certifier.certify(market_split(), UNSAT)
    monkeypatch.undo()
    assert certifier.certify(problem_of(LIN_0127), UNSAT).verdict == "certified"
