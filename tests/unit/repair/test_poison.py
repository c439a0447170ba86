"""Poisoned candidates of the repair study: malformed, refuted or undecided, and the trial ends as every
other."""

import json
from typing import Any

import numpy as np
import pytest
from repair_cases import posed

from evolake.agents import AgentFailure, Agents
from evolake.agents.roles import OperatorsBackend
from evolake.errors import JailUnavailable
from evolake.repair import trial
from evolake.repair.arm_views import CandidateReply
from evolake.repair.certifier import Certifier
from evolake.repair.names import ARMS, KNOWN_ARMS
from evolake.repair.problems import MAX_BITS, Claim, Malformed, parse_candidate
from evolake.repair.proposers import role_of
from evolake.repair.trial import run_trial

PROBLEM = posed({"x1": (0, 9), "x2": (0, 9)}, ({"x1": 1, "x2": 2}, "=", 7))
OTHER = posed({"y1": (0, 9)}, ({"y1": 1}, ">=", 9), id="other")
TEXTS = (
    '{"status": "sat", "assignment": {"x1": ' + "7" * 5000 + ', "x2": 1}}',
    '{"status": "sat", "assignment": {"x1": ' + "7" * 4290 + ', "x2": 1}}',
    '{"status": "sat", "assignment": {"x1": 1e999, "x2": 1}}',
    '{"status": "sat", "assignment": {"x1": NaN, "x2": -Infinity}}',
    "[" * 90_000,
    "\ud800",
    '{"status": "\\ud800"}',
    '{"status": {"a": 1}}',
    '{"status": "sat", "assignment": {"x1": 1, "x2": 3, "\\u0000": 1}}',
    "\0",
    '{"a":' * 9000,
    '{"status": "sat", "assignment": {"x1": [[1]], "x2": 1}}',
    '{"status": "sat", "status": "unsat"}',
    '{"status": "unsat", "' + "x" * 99_999 + '": 1}',
)


@pytest.mark.parametrize("text", TEXTS, ids=lambda item: item[:40].encode("ascii", "replace").decode())
def test_a_candidate_of_any_kind_is_malformed_with_a_short_reason(text):
    result = parse_candidate(text, PROBLEM)
    assert isinstance(result, Malformed) and len(result.reason) < 400


def test_a_value_far_outside_its_domain_is_refuted_and_one_past_all_sense_malformed():
    far = json.dumps({"status": "sat", "assignment": {"x1": 2 ** (MAX_BITS - 1), "x2": 1}})
    candidate = parse_candidate(far, PROBLEM)
    assert isinstance(candidate, Claim) and Certifier().certify(PROBLEM, candidate).verdict == "refuted"
    past = parse_candidate(json.dumps({"status": "sat", "assignment": {"x1": 2**MAX_BITS, "x2": 1}}), PROBLEM)
    assert past == Malformed(f"x1 has more than {MAX_BITS} bits")


class Says(OperatorsBackend):
    """Answers every request with one reply."""

    def __init__(self, reply: Any):
        super().__init__("0001")
        self.reply = reply

    def ask(self, job: Any, record: Any) -> Any:
        job.role.operators(job.request, np.random.default_rng(0))
        return self.reply


def tried(arm: str, reply: Any, certifier: Any = None) -> trial.Trial:
    with Agents(Says(reply), line="repair", cycle="0001") as agents:
        return run_trial(
            arm,
            PROBLEM,
            1,
            plan=trial.plan_of(arm, 2, 3),
            root_seed=0,
            agents=agents,
            certifier=certifier or Certifier(),
            other=OTHER,
        )


@pytest.mark.parametrize("arm", KNOWN_ARMS)
def test_a_trial_of_poisoned_replies_ends_in_every_arm(arm):
    poisoned = CandidateReply.sat({"x1": 7**1500, "x2": -(7**1500)})
    far, odd = CandidateReply.sat({"x1": 2**200, "x2": 1}), CandidateReply.sat({"\ud800": 1})
    for reply in (poisoned, far, odd, AgentFailure("r", "invalid", "\ud800", 1)):
        done = tried(arm, reply)
        assert not done.solved and all(row["verdict"] != "certified" for row in done.attempts)
        json.dumps(done.attempts)


class Raises:
    """A certifier that raises."""

    def __init__(self, error: Exception):
        self.error = error

    def certify(self, problem: Any, candidate: Any) -> Any:
        raise self.error


def test_a_candidate_on_which_certifying_raises_is_undecided_and_a_dead_machine_is_no_verdict():
    done = tried(ARMS[1], CandidateReply.sat({"x1": 1, "x2": 3}), Raises(OverflowError("too large")))
    assert {row["verdict"] for row in done.attempts} == {"unknown"}
    with pytest.raises(JailUnavailable):
        tried(ARMS[1], CandidateReply.sat({"x1": 1, "x2": 3}), Raises(JailUnavailable("dead")))


@pytest.mark.parametrize("arm", KNOWN_ARMS)
def test_the_next_prompt_shows_what_was_answered_whatever_it_was(arm):
    from evolake.repair.arm_states import Judged, start

    state = start(arm, PROBLEM, OTHER)
    candidates = [parse_candidate(text, PROBLEM) for text in TEXTS[:3]] + [
        Claim("sat", {"x1": 2**250, "x2": -1})
    ]
    certifier = Certifier()
    state.observe(
        [
            Judged(slot, candidate, certifier.certify(PROBLEM, candidate))
            for slot, candidate in enumerate(candidates)
        ]
    )
    for slot in range(len(candidates)):
        request = state.request(slot)
        role = role_of(arm, request)
        assert role.values is not None and role.values(request)
