"""Correctness and form of replies, read without evaluating anything."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from evolake.errors import MachineryError
from evolake.prompts.model.prompt import SystemPrompt
from evolake.prompts.model.protocol import Problem, Sample
from evolake.prompts.model.recipes import ESPL, SSLOGIC
from evolake.prompts.model.scoring import judge_reply, judge_with
from evolake.verifiers.external import Verified


def problem(answer: Any, *, case_sensitive: bool = False) -> Problem:
    return Problem("p", "text", json.dumps(answer), case_sensitive, "kind", 1, "train", "test", "p")


@pytest.mark.parametrize(
    ("reply", "answer", "correct", "formatted"),
    [
        ("The sum is 7.", 7, True, True),
        ("3 + 4 = 7", 7, True, True),
        ("**7**", 7, True, True),
        ("7, because 3 + 4 = 7. So it is", 7, True, False),
        ("It is 7, I think", 7, True, False),
        ("7 or 8", 7, False, True),
        ("costs $1,234", 1234, True, True),
        ("1,2,3", 3, False, True),
        ("Out of 50, 20", 20, True, True),
        ("it was -5", -5, True, True),
        ("8-5", 5, False, True),
        ("8-5", -5, False, True),
        ("The result - 7", 7, True, True),
        ("- 7", -7, True, True),
        ("So:\n- 7", 7, True, True),
        ("ID-7", 7, True, True),
        ("2**3", 3, False, True),
        ("2^10", 10, False, True),
        ("1 1/2", 0.5, False, True),
        (r"1\frac{1}{2}", 2, False, True),
        ("x <= 20", 20, False, True),
        ("1.5 x 10^3", 3, False, True),
        ("5/3/2024", 2024, False, True),
        ("20 dozen", 20, False, True),
        ("20%", 20, False, True),
        ("1e3", 1000, True, True),
        ("10^{-3}", -3, False, True),
        ("f(7) = 9", 9, True, True),
        ("(7)", 7, True, True),
        ("[7]", 7, False, True),
        ("(1, 2)", 2, False, True),
        ("5:30", 30, False, True),
        ("A: 7", 7, True, True),
        ("3 + 4 => 7", 7, True, True),
        ("20 and a half", 20, False, True),
        ("There are 20 left.", 20, True, False),
        ("20 hours in total", 20, False, False),
        ("20€", 20, False, True),
        ("v1.2.3", 3, False, False),
        ("一共是 20。", 20, True, True),
        ("[1, [2, 3]].", [1, [2, 3]], True, True),
        ("They are 1, 2 and 3", [1, 2, 3], False, True),
        ("The numbers are 1, 2, 3.", [2, 3], False, True),
        ("The colours are red, blue", ["red", "blue"], True, True),
        ("green, red, blue", ["red", "blue"], False, True),
        ('it is {"a": 1}', {"a": 1}, True, True),
        ("a list}", [1], False, False),
        ("It is C++", "C++", True, True),
        ("on 5 March 2024.", "2024-03-05", True, True),
        ("on 5 March 2024, I think", "2024-03-05", False, True),
        ("8 − 13 = −5", -5, True, True),
        ("1/2", 0.5, True, True),
        ("3.50.", 3.5, True, True),
        ("the 7th", 7, False, False),
        ("x7", 7, False, False),
        ("seven", 7, False, False),
        ("", 7, False, False),
        ("7" * 10_000, 7, False, True),
        ("It is a Tiger.", "tiger", True, True),
        ("tiger, of course", "tiger", False, True),
        ('"New York"!', "new york", True, True),
        ("York", "new york", False, False),
        ("The answer is yes", True, True, True),
        ("No", True, False, True),
        ("It is `.#.`", ".#.", True, True),
        ("It is **.#.**.", ".#.", True, True),
        ("It is `C++`.", "C++", True, True),
        ("It is `# .`", "# .", True, True),
        ("It is `.#.`", "`.#.`", True, True),
        ("It is `.#.`", ".#", False, True),
        ('So {"a": ")"}', {"a": ")"}, True, True),
        ('So {"a": "("}.', {"a": "("}, True, True),
        ('So {"a": "{"}', {"a": "{"}, True, True),
        ('So ["}", 1]', ["}", 1], True, True),
        ('[0] + {"a": ")"}', {"a": ")"}, False, False),
        ("3*[1, 2]", [1, 2], False, True),
        ("-[1, 2]", [1, 2], False, True),
        ("[0] + [1, 2]", [1, 2], False, True),
        ("f(1, 2)", [1, 2], False, True),
        ("- [1, 2]", [1, 2], True, True),
        ("Thus -> [1, 2]", [1, 2], True, True),
        ("-3x^2 - 2x + 1", "3x^2 - 2x + 1", False, True),
        ("p = 3x^2 - 2x + 1", "3x^2 - 2x + 1", True, True),
        ("4x^3 + 3x^2 - 2x + 1", "3x^2 - 2x + 1", False, True),
        ("5 + -2x + 1", "-2x + 1", False, True),
        ("D, A, B, C", "A, B, C", False, True),
        ("So, A, B, C", "A, B, C", True, True),
        ("Answer: A, B, C", "A, B, C", True, True),
        ("- A, B, C", "A, B, C", True, True),
        ("C > B > A", "B > A", False, True),
        ("D -> A -> B", "A -> B", False, True),
        ("Thus => B > A", "B > A", True, True),
        ('"red", "red"', "red", False, True),
        ("red, red", "red", False, True),
        ('"3/2", "3/2"', "3/2", False, True),
        ("true, true", True, False, True),
        ('Well, it is "red"', "red", True, True),
        ("2:3:7", "3:7", False, True),
        ("2 : 3 : 7", "3 : 7", False, True),
        ("Ratio: 3:7", "3:7", True, True),
        ("-3.5 km", "3.5 km", False, True),
        ("3.5 km", "5 km", False, True),
        ("1,234 km", "234 km", False, True),
        ("10:30 pm", "30 pm", False, True),
        ("At 10:30 pm", "10:30 pm", True, True),
        ("The answer - New York", "new york", True, True),
        ("At last, New York", "new york", True, True),
        (r"so \boxed{7} and not 8", 7, True, True),
        (r"\boxed{8}, no: 7", 7, False, True),
    ],
)
def test_the_last_number_or_words_are_the_answer(
    reply: str, answer: Any, correct: bool, formatted: bool
) -> None:
    result = judge_reply(reply, problem(answer), "last")
    assert (result.correct, result.formatted) == (correct, formatted)


COINS = replace(problem(20), text="How many coins are there?")


@pytest.mark.parametrize(
    "reply",
    [
        "-(20)",
        "3(20)",
        "3 (20)",
        "(3)(20)",
        "sqrt(20)",
        "log_2(20)",
        "f(20)",
        "3 - (5 - 20)",
        "(20)/n",
        r"2\pi - 20",
        r"\pi/20",
        "π - 20",
        "x² - 20",
        "50% - 20",
        "total/20",
        "total - 20",
        "= total - 20",
        "total + 20",
        "total * 20",
        "cost / 20",
        "√20",
        "∛20",
        "±20",
        "1±20",
        "⩽ 20",
        "≦ 20",
        "x ⩾ 20",
        "≡ 20",
        "5⋅20",
        "10⁄20",
        "20^n",
        "20/n",
        r"20 \times y",
        "20 x y",
        r"20 \cdot \pi",
        r"20\pi",
        "20_2",
        "20 - x",
        "20 <= x",
        "20 dozen coins",
        "20 hours",
        "20 half coins",
    ],
)
def test_a_number_that_is_reckoned_with_is_not_the_answer(reply: str) -> None:
    assert not judge_reply(reply, COINS, "last").correct


@pytest.mark.parametrize(
    "reply",
    [
        "(20)",
        "The answer is (20).",
        "page (20)",
        "答案(20)",
        "It is 20!",
        "• 20",
        "Answer - 20",
        "The total is 20",
        "it is +20",
        "20</s>",
        "20 (twenty)",
        r"20 \checkmark",
        "20*",
        "20 - which is it",
        "20 -> done",
        "So 20 works.",
        "20 makes sense.",
        "20 satisfies it",
        "20 gives that",
        "20 equals it",
        "20 means so",
        "20 fits",
        "20 holds",
        "20 remains",
        "20 coins",
        "20 gold coins",
        "20 shiny coins.",
    ],
)
def test_brackets_marks_and_verbs_beside_a_number_leave_it_what_it_is(reply: str) -> None:
    assert judge_reply(reply, COINS, "last").correct


@pytest.mark.parametrize(
    ("reply", "answer"), [("-(5)", -5), ("x = -(5)", -5), ("-(1/2)", -0.5), ("- (5)", -5)]
)
def test_a_sign_before_brackets_is_the_sign_of_the_number(reply: str, answer: float) -> None:
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
def test_in_the_boxed_format_only_a_box_counts(
    reply: str, answer: Any, correct: bool, formatted: bool
) -> None:
    result = judge_reply(reply, problem(answer), "boxed")
    assert (result.correct, result.formatted) == (correct, formatted)


def test_a_reply_that_was_cut_off_may_be_correct_and_never_has_the_form_without_a_box() -> None:
    result = judge_reply("3 + 4 = 7", problem(7), "last", truncated=True)
    assert (result.correct, result.formatted) == (True, False)


def test_case_counts_where_the_problem_says_so() -> None:
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
def test_rewards_are_correctness_and_the_bonus_and_a_recipe_may_reject(
    recipe: Any, bonus: float, rewards: list[float | None]
) -> None:
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
def test_a_problem_names_how_its_answer_is_compared(reply: str, scorer: str, correct: bool) -> None:
    assert judge_reply(reply, replace(problem(7), scorer=scorer), "boxed").correct is correct
    assert judge_reply(
        reply[7:-1].replace("x = ", "x "), replace(problem(7), scorer="exact"), "last"
    ).formatted


def test_a_verifiers_score_is_the_reward_and_only_1_is_correct() -> None:
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


def test_a_problem_whose_verifier_was_not_asked_is_never_judged() -> None:
    with pytest.raises(MachineryError, match="was not asked"):
        judge_reply(r"\boxed{7}", replace(problem(7), scorer="reasoning-gym"), "boxed")


@pytest.mark.parametrize(("score", "bonus"), [(0.95, 0.1), (0.9, 0.1), (0.0, 1.0), (0.5, 0.1)])
def test_no_bonus_makes_an_answer_that_is_not_right_a_success(score: float, bonus: float) -> None:
    asked = replace(problem(7), scorer="reasoning-gym")
    result = judge_with(ESPL, "boxed", bonus)(
        SystemPrompt(), asked, 0, Sample(r"\boxed{8}", 5, False, verified=Verified(score, None))
    )
    assert not result.correct and result.reward is not None
    assert result.reward < 1.0
    assert result.reward == pytest.approx(min(1.0, score + bonus))
