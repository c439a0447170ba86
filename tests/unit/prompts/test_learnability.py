"""What the policy can learn from a family: nothing from what is too easy or impossible, most from what is
right half of the time."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.prompts.learnability import group_score, learnability_rows, score
from evolake.prompts.tables import LEARNABILITY, PROBLEMS, ROLLOUTS

COUNTS = st.integers(0, 60)
GROUPS = st.lists(st.tuples(COUNTS, COUNTS), max_size=12)


@given(COUNTS, COUNTS)
def test_a_group_teaches_where_it_has_both_kinds_and_whether_right_or_wrong_makes_no_difference(right, wrong):
    result = group_score(right, wrong)
    assert 0 <= result < 1
    assert (result > 0) == (right > 0 and wrong > 0)
    assert result == group_score(wrong, right)


@given(st.integers(2, 60), st.data())
def test_the_nearer_to_one_half_the_more_a_group_teaches(replies, data):
    less = data.draw(st.integers(0, replies // 2 - 1))
    assert group_score(less, replies - less) < group_score(less + 1, replies - less - 1)


@given(st.integers(1, 20), st.integers(1, 20), st.integers(2, 5))
def test_of_one_share_few_replies_and_few_groups_say_less(right, wrong, times):
    assert group_score(right, wrong) < group_score(times * right, times * wrong)
    assert score([(right, wrong)]) < score([(right, wrong)] * times)
    assert score([(right, wrong)] * 10_000) == pytest.approx(group_score(right, wrong), rel=1e-3)


@given(GROUPS, COUNTS)
def test_a_score_lies_between_0_and_1_and_falls_with_a_group_of_one_kind(groups, alike):
    result = score(groups)
    assert 0 <= result < 1
    assert (result == 0) == all(not right or not wrong for right, wrong in groups)
    assert score([*groups, (alike, 0)]) <= result
    assert score([*groups, (0, alike)]) <= result


def frame(cycle: str, *groups: tuple[int, str, str, str]) -> pl.DataFrame:
    """Rollouts; of each group iteration, prompt, problem, and a letter per reply: + right, - wrong, r wrong
    and rejected."""
    return ROLLOUTS.frame(
        {
            "cycle": cycle,
            "arm": "espl",
            "iteration": iteration,
            "prompt_id": prompt,
            "problem_id": problem,
            "number": number,
            "reply": "",
            "tokens": 1,
            "truncated": False,
            "correct": kind == "+",
            "formatted": True,
            "reward": None if kind == "r" else float(kind == "+"),
        }
        for iteration, prompt, problem, kinds in groups
        for number, kind in enumerate(kinds)
    )


def problems(cycle: str = "0002") -> pl.DataFrame:
    known = {
        "easy-1": ("easy", 1, "train"),
        "easy-2": ("easy", 1, "train"),
        "hard-1": ("hard", 2, "train"),
        "half-1": ("half", 1, "train"),
        "half-2": ("half", 2, "train"),
        "held-1": ("held", 1, "heldout"),
    }
    return PROBLEMS.frame(
        {
            "cycle": cycle,
            "problem_id": name,
            "split": split,
            "source": "families",
            "category": "sums",
            "difficulty": difficulty,
            "text": name,
            "answer": "1",
            "case_sensitive": True,
            "family": family,
        }
        for name, (family, difficulty, split) in known.items()
    )


NOW = frame(
    "0002",
    (3, "p", "easy-1", "++++"),
    (3, "p", "easy-2", "++++"),
    (3, "p", "hard-1", "----"),
    (3, "p", "half-1", "+---"),
    (3, "q", "half-1", "++--"),
    (4, "p", "half-1", "+++-"),
    (4, "p", "half-2", "+rrr"),
    (4, "p", "held-1", "++--"),
)
POLICIES = {3: "tiny", 4: "tiny"}


def test_rows_are_of_what_is_trained_on_and_count_what_took_part():
    rows = {
        (row["family"], row["difficulty"]): row
        for row in LEARNABILITY.frame(
            learnability_rows(NOW, problems(), POLICIES, group_size=4, cycle="0002", root_seed=0)
        ).to_dicts()
    }
    counted = {
        key: (
            row["problems"],
            row["groups"],
            row["replies"],
            row["correct"],
            row["rejected"],
            row["informative"],
        )
        for key, row in rows.items()
    }
    assert counted == {
        ("easy", 1): (2, 2, 8, 8, 0, 0),
        ("hard", 2): (1, 1, 4, 0, 0, 0),
        ("half", 1): (1, 3, 12, 6, 0, 3),
        ("half", 2): (1, 1, 4, 1, 3, 0),
    }
    assert {key: row["score"] > 0 for key, row in rows.items()} == {
        ("easy", 1): False,
        ("hard", 2): False,
        ("half", 1): True,
        ("half", 2): False,
    }
    half = rows["half", 1]
    assert half["score"] == pytest.approx((0.6 + 0.8 + 0.6) / 4)
    assert half["variance"] == pytest.approx((3 / 16 + 4 / 16 + 3 / 16) / 3)
    assert (half["pass_rate"], half["low"] < 0.5 < half["high"]) == (0.5, True)


def test_what_moved_is_of_the_same_prompt_and_problem_asked_again():
    rows = {
        row["family"]: row
        for row in learnability_rows(NOW, problems(), POLICIES, group_size=4, cycle="0002", root_seed=0)
    }
    assert [rows["half"][name] for name in ("repeated", "before", "after", "moved")] == [
        0,
        None,
        None,
        None,
    ]  # difficulty 2, the last row
    whole = learnability_rows(NOW, problems(), POLICIES, group_size=4, cycle="0002", root_seed=0)
    half = next(row for row in whole if (row["family"], row["difficulty"]) == ("half", 1))
    assert [half[name] for name in ("repeated", "before", "after", "moved", "moved_low", "moved_high")] == [
        1,
        0.25,
        0.75,
        0.5,
        0.5,
        0.5,
    ]


def test_a_prompt_in_two_places_has_two_groups_as_the_update_has():
    twice = frame("0002", (3, "p", "half-1", "++++----"), (4, "p", "half-1", "+++-++--"))
    [row] = learnability_rows(twice, problems(), POLICIES, group_size=4, cycle="0002", root_seed=0)
    assert [row[name] for name in ("problems", "groups", "replies", "correct", "informative")] == [
        1,
        4,
        16,
        9,
        2,
    ]
    assert row["score"] == pytest.approx((0 + 0 + 0.6 + 0.8) / 5)
    assert row["variance"] == pytest.approx((0 + 0 + 3 / 16 + 4 / 16) / 4)
    assert [row[name] for name in ("repeated", "before", "after")] == [
        1,
        0.5,
        5 / 8,
    ]  # what was asked again is asked once per iteration
