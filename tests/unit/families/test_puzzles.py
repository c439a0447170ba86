"""Puzzles: three programs of each engine against a fourth one, and two checkers against a third, under every
alternative of every rule; text against inputs; what may be drawn.
"""

import ast
import random
import re
from itertools import permutations

import numpy as np
import pytest
from puzzle_answers import is_right, of_puzzle
from worlds_fixtures import TYPES, entries, unbound

from evolake.errors import MachineryError
from evolake.families.gates.consensus import alike, rearranged, wrong_answers
from evolake.families.model.contract import Family, from_record, to_record
from evolake.families.model.source_code import impurity, switch
from evolake.families.model.statement import fill, stated
from evolake.families.operators.of_families import retold
from evolake.families.operators.registry import WORLDS, child_of
from evolake.families.worlds.engine import engine_in
from evolake.families.worlds.engine_files import said
from evolake.families.worlds.puzzle_world import FOLDER, PUZZLES, puzzle_of, puzzle_world

DRAWN = ((1, 1), (3, 2), (5, 3), (8, 4), (10, 5))


@pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle.name)
def test_three_programs_and_a_fourth_agree_under_every_rule_and_the_reader_finds_the_inputs_again(puzzle):
    turns = max(len(alike) for alike in puzzle.rules.values())
    for number, question in enumerate(puzzle.questions):
        for turn in range(turns):
            rules = {
                point: [alike[(turn + number) % len(alike)], alike[(turn + number + 1) % len(alike)]]
                for point, alike in puzzle.rules.items()
            }
            theme = puzzle.themes[turn % len(puzzle.themes)]
            family = puzzle_of(puzzle, theme, rules, question)
            made, chosen = entries(family), {point.name: point.chosen for point in family.points}
            for difficulty, seed in DRAWN:
                random.seed(seed)
                inputs, texts = made["generator.py"](difficulty)
                text = fill(stated(family), texts)
                answers = [
                    made["validator.py"](inputs),
                    *(made[f"validators/{name}.py"](inputs) for name in puzzle.validators),
                ]
                if puzzle.checkers:
                    assert_judged_alike(family, made, inputs, chosen, question.title, answers)
                else:
                    assert answers == [of_puzzle(inputs, chosen, question.title, text)] * 3, (
                        family.title,
                        inputs,
                    )
                assert {type(answer) for answer in answers} == {TYPES[question.answer]}
                assert made["reader.py"](text) == inputs


@pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle.name)
def test_the_title_of_a_switched_puzzle_names_the_rules_that_hold_now(puzzle):
    question, theme = puzzle.questions[0], puzzle.themes[-1]
    rules = {name: list(every) for name, every in puzzle.rules.items()}
    for point, every in rules.items():
        family = puzzle_of(puzzle, theme, rules, question)
        changed = puzzle_of(puzzle, theme, rules | {point: [every[1], every[0]]}, question)
        assert retold(family, switch(family, point, every[1].name)) == changed.title != family.title


def assert_judged_alike(family: Family, made, inputs, chosen, asked: str, answers) -> None:
    """By both checkers and a third one: what the solvers find is right, and of other answers all say the
    same."""
    checkers = [made[name] for name in made if name.startswith("checkers/")]
    assert len(checkers) == 2
    for answer in answers:
        assert [check(inputs, answer) for check in checkers] == [True, True], (family.title, inputs, answer)
        assert is_right(inputs, chosen, asked, answer)
    label = answers[0]
    for other in [*rearranged(label), *wrong_answers(label)]:
        verdicts = [check(inputs, other) for check in checkers]
        assert verdicts[0] is verdicts[1], (family.title, inputs, other)
        if (
            type(other) is type(label)
            and len(other) == len(label)
            and all(type(item) in (int, str) for item in other)
        ):
            assert verdicts[0] is judged(inputs, chosen, asked, other)
    for hostile in (
        None,
        True,
        7,
        1.5,
        "x" * 500,
        "",
        [],
        {},
        [[1]],
        [None],
        [1, [2]],
        {"a": [1]},
        [10**30] * 3,
        [-1, 0],
    ):
        assert [check(inputs, hostile) for check in checkers] == [False, False], (family.title, hostile)


def judged(inputs, chosen, asked: str, answer) -> bool:
    """What the third one says; a name, letter or number that does not exist makes an answer wrong."""
    try:
        return is_right(inputs, chosen, asked, answer)
    except (KeyError, TypeError, ValueError):
        return False


@pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle.name)
def test_programs_of_an_engine_share_no_code_and_no_rule_holds_the_words_of_another(puzzle):
    rules = {point: list(alternatives)[:2] for point, alternatives in puzzle.rules.items()}
    for theme in puzzle.themes:
        family = puzzle_of(puzzle, theme, rules, puzzle.questions[0])
        assert alike(family) == []
        names = [
            {node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)}
            - {"solution"}
            for source in {**family.solvers(), **family.checkers}.values()
        ]
        assert [
            pair
            for pair in permutations(range(len(names)), 2)
            if (names[pair[0]] & names[pair[1]]) - {"check"}
        ] == []
        texts = [said(item.text, theme) for alternatives in puzzle.rules.values() for item in alternatives]
        assert [pair for pair in permutations(texts, 2) if pair[0] in pair[1]] == []


def test_every_program_of_an_engine_is_one_under_every_question_and_theme():
    for puzzle in PUZZLES:
        for question in puzzle.questions:
            for theme in puzzle.themes:
                family = puzzle_of(puzzle, theme, puzzle.rules, question)
                sources = {**family.solvers(), **family.checkers}
                assert len(sources) == len(puzzle.programs) - 1
                for name, source in {
                    **sources,
                    "generator": family.generator,
                    "reader": family.reader,
                }.items():
                    assert unbound(source) == set(), (puzzle.name, name)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('title = "their places"\n', "", "missing 1 required positional argument: 'title'"),
        ('title = "their places"\n', 'title = "x"\nhint = "y"\n', "unexpected keyword argument 'hint'"),
        ('category = "symbolic"', 'category = "symbolical"', "category 'symbolical'"),
        ('category = "symbolic"\n', "", "category ''"),
        ('answer = "list"\n', "", "row 'places': "),
        ('category = "symbolic"', 'category = "symbolic"\nvalidators = []', "multiple values"),
        ("second = 'return [number", "third = 'return [number", "a question without 'second'"),
        ('card = "plot"\n', "", "a theme without the word 'card'"),
        ("## second: halves", "## second", "`## second` without a name"),
        ("## second: halves", "## third: halves", "programs: generator, primary, first, third"),
        ("```toml", "```yaml", "a block of yaml"),
        ("[[themes]]", "[[scenes]]", "no themes"),
    ],
)
def test_a_file_that_lacks_something_is_named_with_what_it_lacks(old, new, told):
    text = (FOLDER / "cards.md").read_text()
    assert old in text and engine_in(text, "cards").name == "cards"
    with pytest.raises(MachineryError, match=re.escape(told)) as caught:
        engine_in(text.replace(old, new), "cards")
    assert "cards.md" in str(caught.value)


def test_many_draws_ask_for_something_of_which_many_are_correct():
    drawn = [puzzle_world(np.random.default_rng(seed)) for seed in range(4)]
    made = [family for family in drawn if family.checkers]
    assert made
    for family in made:
        assert not any(impurity(source) for source in family.checkers.values())
        assert "any one of them" in family.template


def test_there_are_enough_engines_and_answers_of_every_type():
    assert len(PUZZLES) >= 12 and len({puzzle.name for puzzle in PUZZLES}) == len(PUZZLES)
    types = [question.answer for puzzle in PUZZLES for question in puzzle.questions]
    assert {"integer", "list", "string", "mapping", "number"} == set(types)
    assert types.count("integer") <= 0.3 * len(types)


def test_a_changed_statement_is_not_read():
    family = child_of("puzzle_world", [], np.random.default_rng(2))
    made = entries(family)
    random.seed(1)
    text = fill(stated(family), made["generator.py"](5)[1])
    assert made["reader.py"](text)
    for changed in (text + " Why?", text.replace(family.points[0].alternative().text, ""), text[1:]):
        with pytest.raises(ValueError, match="not a statement"):
            made["reader.py"](changed)


@pytest.mark.parametrize("name", WORLDS)
def test_a_world_is_drawn_from_its_random_numbers_alone(name):
    before = random.getstate()
    first, again, other = (child_of(name, [], np.random.default_rng(seed)) for seed in (5, 5, 6))
    assert random.getstate() == before
    assert to_record(first) == to_record(again) and from_record(to_record(first)) == first
    assert first.family_id != other.family_id
    assert (first.parents, first.operator) == ((), name)
