"""The classical proposer: what it does with each request, and that it reads nothing else."""

import numpy as np
from repair_cases import posed

from evolake.repair.arm_views import (
    Answer,
    CandidateReply,
    ConflictedAttempt,
    ConflictRequest,
    CoreRequest,
    DirectedRequest,
    PlainRequest,
    RefutedAttempt,
    view_of,
)
from evolake.repair.proposers import (
    propose_conflict,
    propose_core,
    propose_directed,
    propose_informed,
    propose_plain,
)

VIEW = view_of(
    posed(
        dict.fromkeys(("x1", "x2", "x3"), (0, 9)),
        ({"x1": 1, "x2": 1}, ">=", 17),
        ({"x2": 2, "x3": -1}, "=", 5),
    )
)
BASE = Answer(status="sat", assignment={"x1": 1, "x2": 2, "x3": 7})


def draws(propose, request, count: int = 200) -> list[CandidateReply]:
    return [propose(request, np.random.Generator(np.random.PCG64(seed))) for seed in range(count)]


def assignments(replies: list[CandidateReply]) -> list[dict[str, int]]:
    return [reply.assignment for reply in replies if reply.assignment is not None]


def test_the_same_request_and_seed_give_the_same_answer():
    request = DirectedRequest(problem=VIEW, base=BASE, conflicts=("c1",), revise=("x1", "x2"), keep=("x3",))
    assert draws(propose_directed, request, 20) == draws(propose_directed, request, 20)


def test_a_core_is_repaired_and_no_other_variable_is_moved():
    for propose, request in (
        (
            propose_core,
            CoreRequest(
                problem=VIEW, attempts=(RefutedAttempt(answer=BASE, outcome="refuted", core=("c1",)),)
            ),
        ),
        (
            propose_directed,
            DirectedRequest(problem=VIEW, base=BASE, conflicts=("c1",), revise=("x1", "x2"), keep=("x3",)),
        ),
    ):
        result = assignments(draws(propose, request))
        assert {item["x3"] for item in result} == {7}
        assert all(item["x1"] + item["x2"] >= 17 for item in result)
        assert len({(item["x1"], item["x2"]) for item in result}) > 1, "repair is randomised"


SLOPE = view_of(
    posed(
        dict.fromkeys(("x1", "x2", "x3"), (0, 9)),
        ({"x1": 1, "x2": 1}, ">=", 8),
        ({"x1": 1, "x2": -1}, ">=", 3),
    )
)
HALF = Answer(status="sat", assignment={"x1": 5, "x2": 2, "x3": 7})


def conflicts(*attempts: ConflictedAttempt) -> ConflictRequest:
    return ConflictRequest(problem=VIEW, attempts=attempts)


def test_a_whole_conflict_is_left_and_its_constraints_are_repaired():
    excluded = ConflictedAttempt(answer=HALF, outcome="refuted", core=("c1", "c2"), values=("x1",))
    result = assignments(draws(propose_conflict, ConflictRequest(problem=SLOPE, attempts=(excluded,))))
    assert (
        all(item["x1"] != 5 and item["x3"] == 7 for item in result)
        and len({item["x1"] for item in result}) > 2
    )
    mended = [item for item in result if item["x1"] + item["x2"] >= 8 and item["x1"] - item["x2"] >= 3]
    assert len(mended) > 0.9 * len(result)


def test_the_informed_proposer_reads_every_constraint_and_the_blind_one_none():
    request = PlainRequest(problem=SLOPE)
    held = [
        item["x1"] + item["x2"] >= 8 and item["x1"] - item["x2"] >= 3
        for item in assignments(draws(propose_informed, request))
    ]
    assert sum(held) > 0.9 * len(held)
    other = PlainRequest(
        problem=view_of(posed(dict.fromkeys(("x1", "x2", "x3"), (0, 9)), ({"x3": 1}, "=", 0)))
    )
    assert draws(propose_plain, request) == draws(propose_plain, other)
    assert draws(propose_informed, request) != draws(propose_informed, other)


def test_a_well_formed_reply_is_the_contracts_object():
    for reply in ({"status": "unsat"}, {"status": "sat", "assignment": {"x1": 10**30}}):
        assert CandidateReply.model_validate(reply).as_object() == reply
