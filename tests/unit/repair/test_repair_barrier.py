"""The information barrier: what the solver knows reaches a prompt only where the arm may see it.

Two ways of looking. Non-interference: two solvers that say different things about the same candidates must
lead to the same prompts, byte for byte, unless the difference is one the arm may see. And accounting: in real
trials, every line of every prompt is explained by what the arm may see.
"""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from repair_cases import posed

from evolake.agents import Agents
from evolake.agents.prompts import build_messages
from evolake.agents.roles import OperatorsBackend
from evolake.errors import InputError
from evolake.repair.arm_states import Judged, start
from evolake.repair.arm_views import PlainRequest, view_of
from evolake.repair.certifier import Certification, Certifier
from evolake.repair.generator import generate
from evolake.repair.names import (
    ALL_NAMED,
    ARMS,
    INFORMED,
    KNOWN_ARMS,
    NAMED,
    ONE_SHOT,
    SHUFFLED,
    WHOLE_CONFLICT,
)
from evolake.repair.problems import UNSAT, Claim, Malformed
from evolake.repair.proposers import ROLES, role_of
from evolake.repair.trial import plan_of, run_trial

PROBLEM = posed(
    {"x1": (0, 9), "x2": (0, 9), "x3": (0, 9)}, ({"x1": 1, "x2": 1}, ">=", 17), ({"x2": 2, "x3": -1}, "=", 5), ({"x3": 3}, "<=", 20),  # noqa: E501
    label="sat", seed=424242,
)  # fmt: skip
OTHER = posed({"y1": (0, 9), "y2": (5, 9)}, ({"y1": 1}, ">=", 9), ({"y2": 1}, "<=", 6), id="other")
SAID = [
    Claim("sat", {"x1": 1, "x2": 2, "x3": 3}),
    Claim("sat", {"x1": 4, "x2": 5, "x3": 6}),
    UNSAT,
    Malformed("no JSON, says the parser"),
]
REFUTED = Certification("refuted", ("c1",), ("c1", "c2", "c3"), "x1=8, x2=9, x3=4 would do")
OTHER_RECORD = Certification("refuted", ("c1",), ("dom:x9", "c7"), "another reason", solver_calls=3)
OTHER_CORE = Certification("refuted", ("c2",), ("c2",), "the assignment violates c2")
NO_ANSWER = Certification("unknown", (), (), "the solver gave no answer in 1,500,000 steps")
CLAIM_REFUTED = Certification("refuted", (), (), "the problem is satisfiable")
UNREADABLE = Certification("malformed", (), (), "no JSON, says the parser", 0)


def prompts(arm: str, certification: Certification) -> list[str]:
    """All prompts of the second round, after a first one in which the assignments were judged as given."""
    state = start(arm, PROBLEM, OTHER)
    state.observe(
        [
            Judged(slot, said, (certification, certification, CLAIM_REFUTED, UNREADABLE)[slot])
            for slot, said in enumerate(SAID)
        ]
    )
    return [
        json.dumps(build_messages(role_of(arm, state.request(slot)), state.request(slot)))
        for slot in range(len(SAID))
    ]


@pytest.mark.parametrize("arm", [*ARMS[:2], INFORMED])
def test_without_feedback_a_prompt_is_the_problem_and_nothing_else(arm):
    first = start(arm, PROBLEM).request(0)
    assert {*prompts(arm, REFUTED), *prompts(arm, NO_ANSWER)} == {
        json.dumps(build_messages(ROLES[arm], first))
    }


def test_the_generic_arm_sees_only_that_it_failed():
    first = prompts("multi_generic_feedback", REFUTED)
    assert prompts("multi_generic_feedback", OTHER_CORE) == first
    assert prompts("multi_generic_feedback", OTHER_RECORD) == first
    assert prompts("multi_generic_feedback", NO_ANSWER) == first
    assert "x1=1, x2=2, x3=3: the previous assignment did not satisfy all constraints" in first[0]
    assert "unsat: the previous answer was not certified" in first[2]
    assert "the previous answer could not be read" in first[3]


@pytest.mark.parametrize("arm", [*ARMS[3:], WHOLE_CONFLICT])
def test_the_core_arms_see_the_core_and_not_the_list_of_violations_or_the_reason(arm):
    first = prompts(arm, REFUTED)
    assert prompts(arm, OTHER_RECORD) == first
    assert prompts(arm, OTHER_CORE) != first, "the core itself must get through, or this test could not fail"
    assert "c1: x1 + x2 >= 17" in first[0]


def test_the_arm_of_whole_conflicts_sees_constraints_and_which_values_they_exclude():
    conflict = Certification("refuted", ("c1", "c2"), ("c1",), "for a person", values=("x2",))
    first = prompts(WHOLE_CONFLICT, conflict)
    said = (
        "x1=1, x2=2, x3=3: the solver refuted it; no assignment with x2=2 satisfies all of: c1: x1 + x2 "
        ">= 17; c2: 2*x2 - x3 = 5"
    )
    assert said in first[0] and "no assignment with x2=5 satisfies all of" in first[1]
    assert "the solver refuted it: the problem is satisfiable" in first[2] and "could not be read" in first[3]
    assert (
        prompts(WHOLE_CONFLICT, replace(conflict, violated=("c7",), reason="another", solver_calls=3))
        == first
    )
    assert prompts(WHOLE_CONFLICT, replace(conflict, values=("x3",))) != first
    alone = prompts(WHOLE_CONFLICT, Certification("refuted", ("c2",), ("c2",), "", values=()))
    assert "no assignment within the domains satisfies the constraint: c2: 2*x2 - x3 = 5" in alone[0]
    assert prompts(WHOLE_CONFLICT, REFUTED) == prompts("multi_unsat_core_feedback", REFUTED), (
        "without a whole conflict it shows the core"
    )


@pytest.mark.parametrize("arm", KNOWN_ARMS)
def test_label_seed_id_counter_model_and_the_parsers_words_are_in_no_prompt(arm):
    text = "".join(prompts(arm, REFUTED))
    for secret in ("424242", '"p"', "x1=8", "would do", "says the parser", "label", "dom:x9"):
        assert secret not in text


def test_the_shuffled_arm_is_shown_the_members_at_the_places_of_another_problems_core():
    certifier, shown = Certifier(), 0
    items = [item.problem for item in generate(6, 3)]
    for problem, other in zip(items, [*items[1:], items[0]], strict=True):
        answer = {item.name: item.low for item in problem.variables}
        moved = Claim("sat", {item.name: answer.get(item.name, 0) for item in other.variables})
        if set(moved.assignment or {}) != set(answer):
            continue
        state = start(SHUFFLED, problem, other)
        state.observe([Judged(0, Claim("sat", answer), Certification("refuted", ("c9",), ("c9",), ""))])
        [attempt] = state.request(0).model_dump()["attempts"]
        members = [[item.id for item in one.constraints] for one in (other, problem)]
        theirs = [name for name in certifier.certify(other, moved).core if name in members[0]]
        assert list(attempt["core"]) == [
            members[1][members[0].index(name) % len(members[1])] for name in theirs
        ]
        shown += bool(theirs)
    assert shown >= 2
    with pytest.raises(InputError, match="needs another problem"):
        start(SHUFFLED, PROBLEM, PROBLEM)


def test_chains_do_not_see_each_other():
    for arm in (*ARMS[2:4], WHOLE_CONFLICT):
        texts = prompts(arm, REFUTED)
        assert "x1=4, x2=5" not in texts[0] and "x1=1, x2=2" not in texts[1]


def test_an_arm_cannot_ask_with_a_request_of_another():
    for arm in (*ARMS[2:], WHOLE_CONFLICT):
        with pytest.raises(TypeError, match=f"arm {arm} may ask with"):
            role_of(arm, PlainRequest(problem=view_of(PROBLEM)))


def test_the_prompts_differ_in_nothing_but_what_they_show():
    def system_and_task(arm: str) -> tuple[str, str]:
        system, user = build_messages(ROLES[arm], start(arm, PROBLEM, OTHER).request(0))
        return system["content"], user["content"].partition("# Task")[2]

    assert len({system_and_task(arm) for arm in KNOWN_ARMS}) == 1


class Recording(Agents):
    """Agents that keep every prompt they send, by problem and call number."""

    def __init__(self) -> None:
        super().__init__(OperatorsBackend("one_shot-0"), line="repair", cycle="one_shot-0")
        self.sent: list[tuple[int, str]] = []

    def call_many(
        self, role: Any, requests: Any, *, seeds: Any, artifact_ids: Any = None, attempts: Any = None
    ) -> Any:
        self.sent += [
            (number, build_messages(role, request)[1]["content"])
            for number, request in zip(attempts, requests, strict=True)
        ]
        return super().call_many(role, requests, seeds=seeds, artifact_ids=artifact_ids, attempts=attempts)


@pytest.mark.parametrize("arm", KNOWN_ARMS)
def test_every_line_of_every_prompt_of_a_real_trial_is_accounted_for(arm):
    certifier, lines = Certifier(), 0
    items = generate(8, 5)
    for item in items:
        agents = Recording()
        trial = run_trial(
            arm,
            item.problem,
            0,
            plan=plan_of(arm, 3, 4),
            root_seed=5,
            agents=agents,
            certifier=certifier,
            other=next(one.problem for one in items if one is not item),
        )
        statement = set(
            build_messages(ROLES[ARMS[0]], PlainRequest(problem=view_of(item.problem)))[1][
                "content"
            ].splitlines()
        )
        ids = {one.id for one in item.problem.constraints} | {one.bound_id for one in item.problem.variables}
        for number, prompt in agents.sent:
            round_, slot = number // 100 % 100 + 1, number % 100 + 1
            seen = [
                row
                for row in trial.attempts
                if row["round"] < round_ and (row["candidate"] == slot or arm == ARMS[4])
            ]
            recent = {name for row in seen if row["round"] >= round_ - 2 for name in json.loads(row["core"])}
            own = {name for row in seen for name in json.loads(row["core"])}
            shown = {"cd_vgs_core_rank": recent, "multi_unsat_core_feedback": own, WHOLE_CONFLICT: own}
            for line in prompt.splitlines():
                if line not in statement:
                    lines += 1
                    named = set(re.findall(r"\b(c\d+|dom:x\d+):", line))
                    if arm in (*NAMED, SHUFFLED):
                        assert named <= ids and (arm == ALL_NAMED or len(named) <= 1), f"{arm}: {line}"
                        continue
                    assert named <= shown.get(arm, set()), f"{arm}, round {round_}: {line}"
                    values = re.search(r"no assignment with (.*) satisfies", line)
                    assert set(values[1].split(", ") if values else []) <= shown.get(arm, set()), (
                        f"{arm}, round {round_}: {line}"
                    )
                    assert item.problem.id not in line and str(item.problem.seed) not in line
    assert (lines > 0) == (arm not in (ONE_SHOT, "multi_no_feedback", INFORMED))
