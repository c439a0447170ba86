"""Numbers that no code has to have: dates, turns, counts of lists, tables; and the words and brackets that a
statement explains."""

from __future__ import annotations

import pytest

from evolake.families.gates.text_changes import fixed_quantities
from evolake.families.model.plain_facts import listed, without_tables
from evolake.families.model.terms import undefined_terms

LINES = ["- 0 is an empty cell", "- 1 is a tree", "- 2 is a fire", "", "- not of the list"]


@pytest.mark.parametrize(
    ("sentence", "following", "left"),
    [
        ("Contracts begin on 1 January of one year and end on 31 December of another.", [], []),
        ("It was measured on 31 December 2023, on March 5th, 2024 and on 2024-03-07.", [], []),
        ("December has 31 days.", [], [31]),
        ("R is a turn to the right by 90 degrees, and a radio covers 360 degrees.", [], []),
        ("Water boils at 90 degrees Celsius.", [], [90]),
        ("The crane turns by 35 degrees.", [], [35]),
        (
            "The houses are of three kinds: of wood, of stone and of brick, which does not matter here.",
            [],
            [],
        ),
        ("There are three kinds: of wood and of stone.", [], [3]),
        ("Each cell can have one of three values:", LINES, []),
        ("Each cell can have one of four values:", LINES, [4]),
        ("Each of the three values counts 5 points.", LINES, [3, 5]),
        ("Letters stand for digits above 9.", [], []),
        ("Every bus has 9 seats.", [], [9]),
    ],
)
def test_quantities_that_code_must_have(sentence, following, left):
    assert [item.value for item in fixed_quantities(sentence, following)] == left


def test_a_list_ends_where_its_lines_end():
    assert (
        listed("", LINES),
        listed(" red, green, and blue", []),
        listed(" red or green", []),
        listed("", ["No list."]),
    ) == (3, 3, 2, 0)


def test_tables_are_left_out_and_other_lines_with_bars_stay():
    text = "Before\n| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\nAfter | this"
    assert without_tables(text) == ["Before", "After | this"]


def test_a_word_that_a_value_stands_for_is_defined():
    rule = "Every fresh orange beside a rotten one becomes rotten."
    assert [word for word, _ in undefined_terms(f"- 1 representing a fresh orange\n{rule}")] == []
    assert [word for word, _ in undefined_terms(f"'F' marks a fresh orange.\n{rule}")] == []
    assert [word for word, _ in undefined_terms(rule)] == ["fresh"]
