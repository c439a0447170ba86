"""Puzzles: three programs of each engine against a fourth one, under every alternative of every rule; text against inputs; what may be drawn."""

from __future__ import annotations

import ast
import random
from itertools import permutations

import numpy as np
import pytest
from puzzle_answers import of_puzzle
from worlds_fixtures import TYPES, entries

from evolake.families.gates.consensus import alike
from evolake.families.model.contract import to_record
from evolake.families.model.statement import fill, stated
from evolake.families.operators.registry import OPERATORS, WORLD_TURNS, WORLDS, child_of
from evolake.families.worlds.puzzles.drawing import puzzle_of, said
from evolake.families.worlds.puzzles.engines import PUZZLES
from evolake.families.worlds.puzzles.model import Puzzle

DRAWN = ((1, 1), (3, 2), (5, 3), (8, 4), (10, 5))
VOTERS = ("primary", "first", "second")


@pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle.name)
def test_three_programs_and_a_fourth_agree_under_every_rule_and_the_reader_finds_the_inputs_again(puzzle: Puzzle) -> None:
    turns = max(len(alike) for alike in puzzle.rules.values())
    for number, question in enumerate(puzzle.questions):
        for turn in range(turns):
            rules = {
                point: [alike[(turn + number) % len(alike)], alike[(turn + number + 1) % len(alike)]] for point, alike in puzzle.rules.items()
            }
            theme = puzzle.themes[turn % len(puzzle.themes)]
            family = puzzle_of(puzzle, theme, rules, question)
            made, chosen = entries(family), {point.name: point.chosen for point in family.points}
            for difficulty, seed in DRAWN:
                random.seed(seed)
                inputs, texts = made["generator.py"](difficulty)
                text = fill(stated(family), texts)
                answers = [made["validator.py"](inputs), *(made[f"validators/{name}.py"](inputs) for name in puzzle.validators)]
                assert answers == [of_puzzle(inputs, chosen, question.title, text)] * 3, (family.title, inputs)
                assert {type(answer) for answer in answers} == {TYPES[question.answer]}
                assert made["reader.py"](text) == inputs


@pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle.name)
def test_programs_of_an_engine_share_no_code_and_no_rule_holds_the_words_of_another(puzzle: Puzzle) -> None:
    rules = {point: list(alternatives)[:2] for point, alternatives in puzzle.rules.items()}
    for theme in puzzle.themes:
        family = puzzle_of(puzzle, theme, rules, puzzle.questions[0])
        assert alike(family) == []
        names = [{node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)} - {"solution"}
                 for source in family.voters().values()]
        assert not names[0] & names[1] and not names[0] & names[2] and not names[1] & names[2]
        texts = [said(item.text, theme) for alternatives in puzzle.rules.values() for item in alternatives]
        assert [pair for pair in permutations(texts, 2) if pair[0] in pair[1]] == []


def test_there_are_enough_engines_and_answers_of_every_type() -> None:
    assert len(PUZZLES) >= 9 and len({puzzle.name for puzzle in PUZZLES}) == len(PUZZLES)
    types = [question.answer for puzzle in PUZZLES for question in puzzle.questions]
    assert {"integer", "list", "string", "mapping", "number"} == set(types)
    assert types.count("integer") <= 0.3 * len(types)


def test_every_world_has_its_turn_and_is_drawn_from_its_random_numbers_alone() -> None:
    assert set(WORLD_TURNS) == set(WORLDS) <= set(OPERATORS)
    first, again, other = (child_of("puzzle_world", [], np.random.default_rng(seed)) for seed in (5, 5, 6))
    assert to_record(first) == to_record(again)
    assert first.family_id != other.family_id
    assert (first.parents, first.operator) == ((), "puzzle_world")


def test_a_changed_statement_is_not_read() -> None:
    family = child_of("puzzle_world", [], np.random.default_rng(2))
    made = entries(family)
    random.seed(1)
    text = fill(stated(family), made["generator.py"](5)[1])
    assert made["reader.py"](text)
    for changed in (text + " Why?", text.replace(family.points[0].alternative().text, ""), text[1:]):
        with pytest.raises(ValueError, match="not a statement"):
            made["reader.py"](changed)
