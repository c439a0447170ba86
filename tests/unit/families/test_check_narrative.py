"""What `evolake families check` says of single votes and blind reviews."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from evolake.families.commands.group import tell
from evolake.families.commands.narrative import LONGEST, review_sentence, voter_sentences
from evolake.families.gates.blind import Review
from evolake.families.gates.consensus import vote
from evolake.families.roles.models import Turn
from evolake.families.sandbox.running import Solved


def solved(answer: Any) -> Solved:
    return Solved("timeout", "late", None, "", None, 0.0) if answer is None else Solved("ok", "", answer, "integer", 1, 0.0)


def votes(*answers: dict[str, Any]) -> tuple[Any, ...]:
    made = ({name: solved(answer) for name, answer in item.items()} for item in answers)
    return tuple(vote(item, case_sensitive=False, difficulty=number + 1, seed=7) for number, item in enumerate(made))


def judged(*answers: dict[str, Any]) -> Any:
    voters = dict.fromkeys(answers[0], "")
    return SimpleNamespace(
        sample_votes=votes(*answers), reviews=(), blocked_by=None, family_id="f" * 64,
        family=SimpleNamespace(name="fam", voters=lambda: voters, reader=""),
    )


def test_only_who_loses_a_decided_vote_is_outvoted_and_who_gives_no_answer_is_told_apart():
    result = judged({"primary": 3, "a": 3, "b": 4}, {"primary": 5, "a": None, "b": 5}, {"primary": 1, "a": 2, "b": 3})
    assert voter_sentences(result) == [
        "the validator a gives no answer on 1 of 3 instances; at difficulty 2: timeout",
        "the validator b is outvoted on 1 of 3 instances; at difficulty 1: it answers 4, the majority 3",
    ]
    assert voter_sentences(judged({"primary": "x", "a": "y", "b": "y"})) == [
        "the primary validator is outvoted on 1 of 1 instance; at difficulty 1: it answers x, the majority y",
    ]


def test_an_accepted_family_whose_voters_differ_does_not_read_as_if_they_agreed(capsys: pytest.CaptureFixture[str]):
    tell(judged({"primary": 3, "a": 3, "b": 4}))
    tell(judged({"primary": 3, "a": 3}))
    first, second = capsys.readouterr().out.split("fam: ")[1:]
    assert first.startswith("accepted, 3 voters, not always of one mind, 0 of 0") and "validator b is outvoted" in first
    assert second.startswith("accepted, 2 voters agree") and "outvoted" not in second


def review(status: str, answer: str = "", label: Any = 7, turns: tuple[Turn, ...] = (), note: str = "") -> str:
    return review_sentence(Review(0, 3, 1, "model", status, answer, label, False, turns, note))


def test_a_review_says_what_was_answered_or_what_it_failed_at():
    head = "the blind review at difficulty 3 (by model) "
    assert review("answered", "8") == head + "answered 8; the label is 7"
    assert review("answered", "8", None) == head + "answered 8; no answer has a strict majority"
    assert review("failed", note="invalid: no JSON\nat all") == head + "failed: invalid: no JSON at all; the label is 7"
    assert review("gave up", "N/A", turns=(Turn(code="", output="error: x"),)) == head + "gave up, as its program ended so: error: x; the label is 7"
    assert review("no answer") == head + "no answer; the label is 7"
    cut = review("answered", "\x1b" + "9" * 5000)
    assert "\x1b" not in cut and len(cut) < LONGEST + 120
