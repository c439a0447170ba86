"""The pilot: levels that are kept, questions that are asked once, the verdict on a policy that learns and on
one that does not, resumption."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from prompts_fixtures import Adder

from evolake import settings as settings_module
from evolake.errors import InputError
from evolake.prompts.settings import PromptsSettings
from evolake.utility.execution import pilot
from evolake.utility.execution.cells import Pause
from evolake.utility.execution.pass_rates import PassRates
from evolake.utility.execution.pilot import PilotSizes, pilot_problems, pilot_result, run_pilot
from evolake.utility.settings import UtilitySettings
from evolake.utility.tables import LINEAGES, TRAIN

SIZES = PilotSizes(questions=20, replies=4, steps=3)


def settings() -> Any:
    loaded = settings_module.load("demo")
    own = loaded.of(UtilitySettings).model_copy(update={"batch_problems": 4, "rollouts": 3})
    return loaded.with_section(own).with_section(
        loaded.of(PromptsSettings).model_copy(update={"answer_format": "last"})
    )


def row(number: int, suite: str) -> dict[str, Any]:
    return {
        "problem_id": f"q{number}",
        "suite": suite,
        "arms": ["seeds"] if suite == TRAIN else [],
        "family_id": "f",
        "category": "sums",
        "difficulty": 1,
        "text": f"What is {number} + {number + 3}?",
        "answer": json.dumps(2 * number + 3),
        "case_sensitive": True,
        "scorer": "answer",
    }


ROWS = [row(number, LINEAGES if number < SIZES.questions else TRAIN) for number in range(SIZES.questions + 8)]


class Learner(Adder):
    """Right with a chance that grows with every update by `gain`."""

    def __init__(self, gain: float):
        super().__init__(skill=lambda prompt: 0.3 + gain * len(self.updates))


def test_a_policy_that_learns_gets_the_verdict_and_one_that_does_not_fails_it(tmp_path: Path) -> None:
    learns = run_pilot(ROWS, Learner(0.2), SIZES, settings(), tmp_path / "a")
    assert learns.learns and learns.change.estimate > 0.3 and (learns.steps, learns.updated) == (3, 3)
    assert learns.sentence().startswith("this machine can show learning")
    idle = run_pilot(ROWS, Learner(0.0), SIZES, settings(), tmp_path / "b")
    assert not idle.learns and idle.change.low < 0 < idle.change.high
    assert idle.sentence().startswith("this machine cannot show learning at this size")


def test_a_pilot_that_was_cut_off_continues_to_the_same_result(tmp_path: Path) -> None:
    whole = run_pilot(ROWS, Learner(0.2), SIZES, settings(), tmp_path / "whole")

    def stop(step: int) -> None:
        if step == 2:
            raise Pause

    with pytest.raises(Pause):
        run_pilot(ROWS, Learner(0.2), SIZES, settings(), tmp_path / "cut", stop)
    policy, steps = Learner(0.2), []
    assert run_pilot(ROWS, policy, SIZES, settings(), tmp_path / "cut", steps.append) == whole
    assert steps == [3]


def test_the_change_is_paired_by_question() -> None:
    before = [{"problem_id": name, "correct": False} for name in "ab"] * 2
    after = [{"problem_id": "a", "correct": True}, {"problem_id": "b", "correct": False}] * 2
    result = pilot_result(before, after, 1, 1, 0)
    assert (result.before, result.change.estimate, result.change.low, result.change.high) == (
        0.0,
        0.5,
        0.0,
        1.0,
    )


class Family:
    def __init__(self, name: str):
        self.family_id = name


def draw(each: int) -> Callable[..., list[dict[str, Any]]]:
    def instances(family: Any, levels: list[int], count: int, **_: Any) -> list[dict[str, Any]]:
        return [
            {
                "instance_id": f"{family.family_id}{level}-{number}",
                "text": f"{family.family_id} {level} {number}?",
                "text_sha": f"{family.family_id}{level}{number}",
                "answer": "7",
                "case_sensitive": True,
                "category": "c",
                "difficulty": level,
                "family_id": family.family_id,
                "language": "en",
            }
            for level in levels
            for number in range(min(count, each))
        ]

    return instances


RATES = PassRates(
    {("a", 1): 10, ("a", 2): 10, ("b", 1): 10, ("b", 2): 10},
    {("a", 1): 2, ("a", 2): 6, ("b", 1): 5, ("b", 2): 1},
    frozenset({"a10", "b11"}),
)


def test_levels_between_the_shares_are_asked_in_turn_and_no_text_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pilot, "draw_instances", draw(60))
    rows = pilot_problems([Family("a"), Family("b")], RATES, SIZES, settings(), pool=None)  # type: ignore[list-item]
    held, train = ([item for item in rows if item["suite"] == suite] for suite in (LINEAGES, TRAIN))
    assert {(item["family_id"], item["difficulty"]) for item in rows} == {("a", 1), ("b", 1)}
    assert (
        len(held) == 20
        and [sum(item["family_id"] == name for item in held) for name in "ab"] == [10, 10]
        and len(train) == 4 * 3
    )
    texts = [item["text"].split("\n")[0] for item in rows]
    assert len(set(texts)) == len(texts) and not {"a 1 0?", "b 1 1?"} & set(texts), (
        "what rates were measured on is not asked again"
    )


@pytest.mark.parametrize(
    ("each", "between", "what"),
    [(60, (0.9, 1.0), "too often or too seldom"), (8, (0.2, 0.5), "too few different questions")],
)
def test_what_gives_no_pilot_is_refused(
    monkeypatch: pytest.MonkeyPatch, each: int, between: tuple[float, float], what: str
) -> None:
    monkeypatch.setattr(pilot, "draw_instances", draw(each))
    with pytest.raises(InputError, match=what):
        pilot_problems(
            [Family("a"), Family("b")],
            RATES,
            PilotSizes(between, questions=20, steps=3),
            settings(),
            pool=None,  # type: ignore[list-item]
        )
