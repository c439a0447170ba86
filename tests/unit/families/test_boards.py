"""Boards: every rule in three engines and a fourth program, questions, a course worked out by hand, and text
against inputs."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from board_answers import courses
from worlds_fixtures import ENGINES, assert_answered_alike, entries, statements

from evolake.families.worlds.process_world import BOARDS, Bound, Question, drawn_world, world_of

COURSE = Question(
    "course",
    "the whole course",
    "",
    "return [[*at, *(x for cell in sorted(things) for x in cell)] for at, things in trace]",
    """size = b["width"]
return [[int(n) for one in (a, *np.flatnonzero(x)) for n in (one // size, one % size)] for a, x in zip(at, box)]""",  # noqa: E501
    """found = []
for t in range(last + 1):
    [at], things = [x for x in g["open"] if is_("at", t, x)], [x for x in g["open"] if is_("thing", t, x)]
    found.append([n for x in (at, *things) for n in x])
return found""",
)
"""Where who moves is, and where things are, before the first move and after each: a list of numbers for
each."""


def drawn(numbers: np.random.Generator, first: Bound | None = None) -> dict[str, list[Bound]]:
    """Two rules of each point, that one in force at its own."""
    rules = {}
    for point in BOARDS.rules:
        known = [rule for rule in BOARDS.bound(point) if first is None or rule.rule != first.rule]
        rules[point] = [known[item] for item in numbers.choice(len(known), size=2, replace=False)]
        if first is not None and point == point_of(first):
            rules[point][0] = first
    return rules


def point_of(item: Bound) -> str:
    return next(point for point, rules in BOARDS.rules.items() if item.rule in rules)


def crowded(numbers: np.random.Generator) -> dict[str, Any]:
    """A board on which nearly every move meets something."""
    letters = numbers.permutation(list("@" + "o" * 4 + "x" * 5 + "#" * 3 + "." * 12)).tolist()
    return {
        "board": ["".join(letters[at : at + 5]) for at in range(0, 25, 5)],
        "moves": numbers.integers(4, size=12).tolist(),
        "ask": {},
    }


def numbered(cell: complex) -> tuple[int, int]:
    return int(cell.imag), int(cell.real)


@pytest.mark.parametrize("rule", BOARDS.bound(), ids=lambda item: item.key)
def test_a_rule_means_the_same_in_three_engines_and_in_a_fourth_program(rule):
    minded = 0
    for seed in range(3):
        numbers = np.random.default_rng([seed, *map(ord, rule.key)])
        rules = drawn(numbers, rule)
        made = entries(world_of(BOARDS, BOARDS.themes[0], rules, COURSE))
        for _ in range(2):
            inputs, keys = crowded(numbers), {point: ones[0].key for point, ones in rules.items()}
            others = {**keys, point_of(rule): rules[point_of(rule)][1].key}
            wanted, other = (
                [
                    [n for cell in (state.at, *sorted(state.things, key=numbered)) for n in numbered(cell)]
                    for state in courses(inputs, summary)[1]
                ]
                for summary in (keys, others)
            )
            assert [made[name](inputs) for name in ENGINES] == [wanted] * 3, (keys, inputs)
            minded += wanted != other
    assert minded > 0


def test_there_are_enough_rules_questions_and_themes_and_no_text_holds_another():
    assert len(BOARDS.questions) >= 9 and len(BOARDS.themes) >= 5
    assert all(len(rules) > 2 for rules in BOARDS.rules.values())
    for theme in BOARDS.themes:
        texts = [BOARDS.says(rule, theme) for rule in BOARDS.bound()]
        assert len(set(texts)) == len(texts)
        assert [pair for pair in permutations(texts, 2) if pair[0] in pair[1]] == []


@pytest.mark.parametrize("question", BOARDS.questions, ids=lambda question: question.name)
def test_every_question_is_answered_alike_by_three_engines_and_a_fourth_program(question):
    numbers = np.random.default_rng(len(question.name))
    for place, theme in enumerate(BOARDS.themes):
        made = entries(family := world_of(BOARDS, theme, drawn(numbers), question))
        assert_answered_alike(family, made, 1 + 9 * place // (len(BOARDS.themes) - 1), place)


def test_a_board_with_a_row_or_a_rule_less_is_not_read():
    family = drawn_world(np.random.default_rng(0), BOARDS)
    assert family is not None
    read, text = entries(family)["reader.py"], statements(family, [(5, 1)])[0]
    lines = [line for line in text.split("\n") if line.startswith("- ")]
    assert read(text)
    mover = next(
        word for word in ("robot", "hedgehog", "tug", "token", "ghost", "fox") if f" {word} " in text
    )
    for changed in (
        text.replace(lines[0] + "\n", ""),
        text.replace(lines[-1], lines[-1][:-1] + " twice."),
        text + " Why?",
        text.replace(lines[-2] + "\n", ""),
        text.replace(f"{lines[0]}\n{lines[1]}", f"{lines[1]}\n{lines[0]}"),
        text.replace(lines[1], lines[1].replace(",", f", {mover},", 1)),
    ):
        assert changed != text
        with pytest.raises(ValueError, match="not a statement|not in order|not a board"):
            read(changed)
