"""Boards: every rule in three engines and a fourth program."""

from typing import Any

import numpy as np
import pytest
from board_answers import courses
from worlds_fixtures import ENGINES, entries

from evolake.families.worlds.engine import Question, Rule
from evolake.families.worlds.process_world import BOARDS, world_of

COURSE = Question(
    "course",
    "the whole course",
    "",
    "list",
    "return [[*at, *(x for cell in sorted(things) for x in cell)] for at, things in trace]",
    """found = []
for t in range(last + 1):
    [at], things = [x for x in g["open"] if is_("at", t, x)], [x for x in g["open"] if is_("thing", t, x)]
    found.append([n for x in (at, *things) for n in x])
return found""",
    """size = b["width"]
return [[int(n) for one in (a, *np.flatnonzero(x)) for n in (one // size, one % size)] for a, x in zip(at, box)]""",  # noqa: E501
)
"""Where who moves is, and where things are, before the first move and after each: a list of numbers for
each."""


def drawn(numbers: np.random.Generator, first: Rule | None = None) -> dict[str, list[Rule]]:
    """Two rules of each point, that one in force at its own."""
    rules = {}
    for point in BOARDS.rules:
        known = [rule for rule in BOARDS.rules[point] if first is None or rule.kind != first.kind]
        rules[point] = [known[item] for item in numbers.choice(len(known), size=2, replace=False)]
        if first is not None and point == point_of(first):
            rules[point][0] = first
    return rules


def point_of(item: Rule) -> str:
    return next(point for point, rules in BOARDS.rules.items() if item in rules)


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


@pytest.mark.parametrize("rule", BOARDS.alternatives, ids=lambda item: item.name)
def test_a_rule_means_the_same_in_three_engines_and_in_a_fourth_program(rule):
    minded = 0
    for seed in range(3):
        numbers = np.random.default_rng([seed, *map(ord, rule.name)])
        rules = drawn(numbers, rule)
        made = entries(world_of(BOARDS, BOARDS.themes[0], rules, COURSE))
        for _ in range(2):
            inputs, keys = crowded(numbers), {point: ones[0].name for point, ones in rules.items()}
            others = {**keys, point_of(rule): rules[point_of(rule)][1].name}
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
