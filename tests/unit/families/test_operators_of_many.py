"""One rule more, and another objective, for families with many correct answers."""

import random
from dataclasses import replace

import numpy as np
import pytest
from families_fixtures import SETTINGS, seed_family
from worlds_fixtures import entries

from evolake.families.evolution.requests import EvolutionSources, request_of
from evolake.families.model.contract import Family
from evolake.families.model.source_code import NotComposable
from evolake.families.model.statement import fill, stated
from evolake.families.operators.common import named
from evolake.families.operators.of_many import aim, extend, lists_answers
from evolake.families.operators.registry import OF_MANY, turn
from evolake.families.worlds.liveliness import entry
from evolake.families.worlds.puzzle_world import OF_MANY_ANSWERS, puzzle_of

MEANT = {
    "up": lambda answer, bound: answer[-1] > answer[-2],
    "down": lambda answer, bound: answer[-1] < answer[-2],
    "above": lambda answer, bound: answer[-1] > answer[-3],
    "below": lambda answer, bound: answer[-1] < answer[-3],
    "climbs": lambda answer, bound: sum(map(lambda a, b: a < b, answer, answer[1:])) >= bound,
    "drops": lambda answer, bound: sum(map(lambda a, b: a > b, answer, answer[1:])) >= bound,
}
"""What each rule asks of an answer, with the number that the text gives."""


def drawn(engine: str) -> Family:
    puzzle = next(item for item in OF_MANY_ANSWERS if item.name == engine)
    return named(puzzle_of(puzzle, puzzle.themes[0], puzzle.rules, puzzle.questions[0]))


@pytest.mark.parametrize("operator", [extend, aim])
@pytest.mark.parametrize("engine", ["chain", "guards", "signs"])
def test_of_the_right_answers_those_count_that_keep_the_new_rule(engine, operator):
    parent = drawn(engine)
    every, others = entry(parent.validator, "every"), 0
    for seed in range(3):
        child = operator([parent], np.random.default_rng(seed))
        asked = next(point for point in child.points if point.name in ("extra", "aim"))
        made = entries(child)
        checkers = [check for name, check in made.items() if name.startswith("checkers/")]
        assert (child.parents, len(checkers)) == ((parent.family_id,), 2)
        for difficulty in (1, 6):
            random.seed(seed)
            inputs, texts = made["generator.py"](difficulty)
            assert made["reader.py"](fill(stated(child), texts)) == inputs
            right = list(every(inputs["a"]))
            counting = [answer for answer in right if MEANT[asked.chosen](answer, inputs.get("bound"))]
            assert 2 <= len(counting) < len(right)
            for check in checkers:
                assert [answer for answer in right if check(inputs, answer)] == counting
            solved = [made[name](inputs) for name in made if name.startswith("valid")]
            assert all(answer in counting for answer in solved)
            others += solved[0] != solved[1]
    assert others > 2


def test_a_child_is_a_parent_again():
    child = aim([extend([drawn("signs")], np.random.default_rng(1))], np.random.default_rng(1))
    assert lists_answers(child) and [point.name for point in child.points][-2:] == ["a_extra", "aim"]


@pytest.mark.parametrize("operator", [extend, aim])
def test_a_parent_that_lists_no_answers_in_an_order_is_refused(operator):
    signs = drawn("signs")
    for parent in (
        seed_family("clinic-queue"),
        seed_family("border-colours"),
        drawn("discs"),
        replace(signs, answer=replace(signs.answer, type="mapping")),
    ):
        with pytest.raises(NotComposable, match="list right answers"):
            operator([parent], np.random.default_rng(0))


def test_a_request_offers_parents_that_list_answers_and_draws_a_world_if_there_are_none():
    number = next(number for number in range(40) if turn(number) in OF_MANY)
    settings = SETTINGS.model_copy(update={"world_share": 0.0})
    for parents, operator in (
        ([seed_family("clinic-queue"), drawn("signs")], turn(number)),
        ([seed_family("clinic-queue")], "puzzle_world"),
    ):
        sources = EvolutionSources(parents)
        request = request_of(sources, number, cycle="0001", root_seed=0, settings=settings)
        assert request.operator == operator
        if operator in OF_MANY:
            assert [record["title"] for record in request.records] == [parents[1].title]
