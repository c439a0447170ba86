"""Correctness and form of replies, read without evaluating anything."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evolake.errors import MachineryError
from evolake.prompts.model.prompt import SystemPrompt
from evolake.prompts.model.protocol import Problem, Sample
from evolake.prompts.model.recipes import ESPL, SSLOGIC
from evolake.prompts.model.scoring import judge_reply, judge_with
from evolake.verifiers.external import Verified

ROWS = json.loads(Path(__file__).with_name("scoring_rows.json").read_text())
"""Test -> its rows."""


def problem(answer: Any, *, case_sensitive: bool = False) -> Problem:
    return Problem("p", "text", json.dumps(answer), case_sensitive, "kind", 1, "train", "test", "p")


@pytest.mark.parametrize(
    ("reply", "answer", "correct", "formatted"),
    [*ROWS["the_last_number_or_words_are_the_answer"], ("7" * 10_000, 7, False, True)],
)
def test_the_last_number_or_words_are_the_answer(reply, answer, correct, formatted):
    result = judge_reply(reply, problem(answer), "last")
    assert (result.correct, result.formatted) == (correct, formatted)


COINS = replace(problem(20), text="How many coins are there?")


@pytest.mark.parametrize("reply", ROWS["a_number_that_is_reckoned_with_is_not_the_answer"])
def test_a_number_that_is_reckoned_with_is_not_the_answer(reply):
    assert not judge_reply(reply, COINS, "last").correct


@pytest.mark.parametrize("reply", ROWS["brackets_marks_and_verbs_beside_a_number_leave_it_what_it_is"])
def test_brackets_marks_and_verbs_beside_a_number_leave_it_what_it_is(reply):
    assert judge_reply(reply, COINS, "last").correct


@pytest.mark.parametrize(
    ("reply", "answer"), [("-(5)", -5), ("x = -(5)", -5), ("-(1/2)", -0.5), ("- (5)", -5)]
)
def test_a_sign_before_brackets_is_the_sign_of_the_number(reply, answer):
    assert judge_reply(reply, problem(answer), "last").correct
    assert not judge_reply(reply, problem(-answer), "last").correct


@pytest.mark.parametrize(
    ("reply", "answer", "correct", "formatted"),
    [
        (r"\boxed{7}", 7, True, True),
        ("7", 7, False, False),
        (r"\boxed{7} then \boxed{8}", 7, False, True),
        (r"\boxed{[2, 3]}", [2, 3], True, True),
        (r"\boxed{", 7, False, False),
    ],
)
def test_in_the_boxed_format_only_a_box_counts(reply, answer, correct, formatted):
    result = judge_reply(reply, problem(answer), "boxed")
    assert (result.correct, result.formatted) == (correct, formatted)


def test_a_reply_that_was_cut_off_may_be_correct_and_never_has_the_form_without_a_box():
    result = judge_reply("3 + 4 = 7", problem(7), "last", truncated=True)
    assert (result.correct, result.formatted) == (True, False)


def test_case_counts_where_the_problem_says_so():
    assert not judge_reply("Tiger", problem("tiger", case_sensitive=True), "last").correct


@pytest.mark.parametrize(
    ("recipe", "bonus", "rewards"),
    [
        (ESPL, 0.0, [1.0, 1.0, 0.0, 0.0]),
        (ESPL, 0.1, [1.1, 1.0, 0.1, 0.0]),
        (SSLOGIC, 0.1, [1.1, 1.0, 0.1, None]),
        (replace(SSLOGIC, rejects="incorrect"), 0.1, [1.1, 1.0, None, None]),
    ],
)
def test_rewards_are_correctness_and_the_bonus_and_a_recipe_may_reject(recipe, bonus, rewards):
    judge = judge_with(recipe, "last", bonus)
    replies = ["It is 7.", "It is 7, is it?!x", "It is 8.", "I do not know"]
    result = [
        judge(SystemPrompt(), problem(7), number, Sample(reply, 5, False))
        for number, reply in enumerate(replies)
    ]
    assert [rollout.reward for rollout in result] == rewards
    assert [rollout.number for rollout in result] == [0, 1, 2, 3]
    assert [(rollout.prompt_id, rollout.problem_id, rollout.tokens) for rollout in result] == [
        (SystemPrompt().prompt_id, "p", 5)
    ] * 4


@pytest.mark.parametrize(
    ("reply", "scorer", "correct"),
    [
        (r"\boxed{7.0}", "answer", True),
        (r"\boxed{7.0}", "exact", False),
        (r"\boxed{ 7 }", "exact", True),
        (r"\boxed{x = 7}", "exact", False),
    ],
)
def test_a_problem_names_how_its_answer_is_compared(reply, scorer, correct):
    assert judge_reply(reply, replace(problem(7), scorer=scorer), "boxed").correct is correct
    assert judge_reply(
        reply[7:-1].replace("x = ", "x "), replace(problem(7), scorer="exact"), "last"
    ).formatted


def test_a_verifiers_score_is_the_reward_and_only_1_is_correct():
    asked, judge = replace(problem(7), scorer="reasoning-gym"), judge_with(ESPL, "boxed", 0.1)
    said = [Verified(1.0), Verified(0.99), Verified(0.0), Verified(0.0, "cpu")]
    result = [judge(SystemPrompt(), asked, 0, Sample(r"\boxed{8}", 5, False, verified=item)) for item in said]
    assert [(item.correct, item.reward, item.unverified) for item in result] == [
        (True, 1.1, None),
        (False, pytest.approx(1.0), None),
        (False, 0.1, None),
        (False, 0.1, "cpu"),
    ]
    unread = judge(SystemPrompt(), asked, 0, Sample("8", 5, False, verified=Verified(1.0)))
    assert (unread.correct, unread.reward) == (False, 0.0), "a score without an answer counts for nothing"


def test_a_problem_whose_verifier_was_not_asked_is_never_judged():
    with pytest.raises(MachineryError, match="was not asked"):
        judge_reply(r"\boxed{7}", replace(problem(7), scorer="reasoning-gym"), "boxed")


@pytest.mark.parametrize(("score", "bonus"), [(0.95, 0.1), (0.9, 0.1), (0.0, 1.0), (0.5, 0.1)])
def test_no_bonus_makes_an_answer_that_is_not_right_a_success(score, bonus):
    asked = replace(problem(7), scorer="reasoning-gym")
    result = judge_with(ESPL, "boxed", bonus)(
        SystemPrompt(), asked, 0, Sample(r"\boxed{8}", 5, False, verified=Verified(score, None))
    )
    assert not result.correct and result.reward is not None
    assert result.reward < 1.0
    assert result.reward == pytest.approx(min(1.0, score + bonus))
