"""What counts as a cycle in which every proposal failed."""

import pytest

from evolake.agents.calls import count_outcomes

PROPOSES = ("coder",)


@pytest.mark.parametrize(
    ("attempts", "failed"),
    [
        ([], False),
        ([("coder", "ok")], False),
        ([("coder", "invalid"), ("coder", "replayed+ok")], False),
        ([("coder", "replayed"), ("coder", "truncated")], False),
        ([("coder", "invalid")], True),
        ([("lookup", "ok"), ("coder", "invalid+no_usage"), ("coder", "replayed+empty")], True),
        ([("lookup", "garbled")], True),
        ([("lookup", "ok"), ("lookup", "lost+no_usage")], False),
        ([("coder", "ok+odd_usage+answered_by:other")], False),
    ],
    ids=str,
)
def test_a_cycle_failed_where_no_proposal_came_of_what_was_asked(attempts, failed):
    assert (
        count_outcomes([{"role": role, "status": status} for role, status in attempts], PROPOSES).failed
        == failed
    )


def session(name: str, *outcomes: str | None) -> tuple[list[dict], list[dict]]:
    """Rows of calls and of turns of one session of the coder."""
    calls = [
        {"role": "coder", "status": "ok", "call_id": f"{name}{number}"} for number in range(len(outcomes))
    ]
    return calls, [
        {"role": "coder", "session_id": name, "outcome": outcome, **row}
        for row, outcome in zip(calls, outcomes, strict=True)
    ]


@pytest.mark.parametrize(
    ("outcomes", "words", "failed"),
    [
        ([(None, None, "finished")], "1 attempts, 1 with a valid reply", False),
        ([(None, "out_of_turns")], "1 attempts, 0 with a valid reply (out_of_turns 1)", True),
        ([(None, "looped"), (None,)], "2 attempts, 0 with a valid reply (looped 1, unfinished 1)", True),
        (
            [(None, "withdrawn")],
            "1 attempts, 0 with a valid reply, 1 withdrawn because no gain was found",
            False,
        ),
        (
            [("withdrawn",), ("looped",)],
            "2 attempts, 0 with a valid reply, 1 withdrawn because no gain was found (looped 1)",
            False,
        ),
        ([(None, "looped"), ("finished",)], "2 attempts, 1 with a valid reply (looped 1)", False),
    ],
)
def test_a_session_is_one_reply_and_valid_where_it_was_finished(outcomes, words, failed):
    held = [session(str(number), *ends) for number, ends in enumerate(outcomes)]
    calls, turns = ([row for item in held for row in item[place]] for place in (0, 1))
    now = count_outcomes(calls, PROPOSES, turns)
    assert (now.words, now.failed, now.proposing) == (words, failed, len(outcomes))
