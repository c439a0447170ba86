"""Sentences, their quantities and patterns; changes of texts and sources; words without a border."""

from dataclasses import replace
from itertools import pairwise

import pytest
from families_fixtures import seed_family
from families_in_other_dress import DRESSED
from hypothesis import given
from hypothesis import strategies as st

from evolake.families.gates.changes import (
    fixed_quantities,
    helpers,
    text_changes,
    whole_numbers,
    with_number,
    with_ties_turned,
)
from evolake.families.model.source_code import without_function
from evolake.families.model.statement import stated
from evolake.families.model.wording import (
    Pattern,
    declared,
    quantities,
    says_order_of_equals,
    sentences,
    spans,
    undefined_terms,
)


def run(source: str, *arguments: object) -> object:
    space: dict[str, object] = {}
    exec(source, space)
    return space["solution"](*arguments)  # pyright: ignore[reportCallIssue]


@given(st.text(alphabet="ab1. !?;\n-)", max_size=60))
def test_sentences_are_pieces_of_the_text_in_order_and_leave_no_letter_out(text):
    result = spans(text)
    assert all(start < end for start, end in result) and result == sorted(result)
    assert all(first[1] <= other[0] for first, other in pairwise(result))
    assert "".join(sentences(text)).count("a") == text.count("a")


def test_a_line_of_a_list_is_one_sentence_and_its_number_ends_none():
    assert sentences("Do this:\n1. Go on. Then stop; rest.\n- so (e.g. here)") == [
        "Do this:",
        "1. Go on.",
        "Then stop;",
        "rest.",
        "- so (e.g. here)",
    ]


def test_quantities_are_figures_and_words_and_examples_are_none():
    assert [
        quantity.value for quantity in quantities("Seven days, 14 hours, a dozen, the third; x2 and 1.5")
    ] == [7, 14, 12, 3]
    assert [
        quantity.value
        for quantity in fixed_quantities("Of four (not 9) there are two, [Input Slot 3] in all.")
    ] == [4, 2]
    assert fixed_quantities('A note "3 > 8" means that member 3 is older.') == []
    assert fixed_quantities("Patients are numbered 1, 2, 3, ... from 1 on.") == []


@pytest.mark.parametrize(
    ("pattern", "sentence", "values"),
    [
        ("A week has {WEEK} days.", "A week has seven days", {"WEEK": "seven"}),
        ("A week has {WEEK} days.", "A week has days.", None),
        ("- {item}", "2) whatever", {"item": "whatever"}),
        ("- {item}", "whatever", None),
        ("{a} and {b}", "x and y and z", {"a": "x", "b": "y and z"}),
        ("{a} is {a}", "x is y", None),
        ("Stop.", "stop", {}),
    ],
)
def test_a_pattern_fits_or_does_not(pattern, sentence, values):
    assert Pattern(pattern, "").values(sentence) == values


def test_declared_patterns_are_those_of_the_reader_itself():
    reader = 'SENTENCES = {"One.": "always"}\n\ndef read(text):\n    return {}\n'
    assert declared(reader) == (Pattern("One.", "always"),)
    assert declared(f"def part_a():\n    {reader.splitlines()[0]}\n") is None
    assert declared(None) is None
    with pytest.raises(ValueError, match="SENTENCES is no mapping"):
        declared("SENTENCES = [1]")


def test_each_sentence_and_each_quantity_is_changed_once():
    family = DRESSED["visits-in-weeks"]
    changes = text_changes(family)
    assert [change.kind for change in changes] == ["sentence", "quantity", "sentence", "sentence"]
    assert "has eight days" in changes[1].template and changes[1].value == 7
    assert all(change.template != stated(family) for change in changes)


SOURCE = """
def least(items):
    return min(items, key=lambda item: (item[0], item[1]))


def spare():
    return 0


def solution(items):
    return least(items)[1] + 7
"""


def test_sources_are_changed_in_one_thing():
    assert helpers(SOURCE) == ["least"] and 7 in whole_numbers(SOURCE)
    assert run(SOURCE, [(1, 5), (1, 3)]) == 10
    assert run(str(with_number(SOURCE, 7)), [(1, 5)]) == 13 and with_number(SOURCE, 99) is None
    assert run(str(without_function(SOURCE, "least", "(0, 0)")), [(1, 5)]) == 7
    assert without_function(SOURCE, "gone", "None") is None
    turned = str(with_ties_turned(SOURCE))
    assert (run(turned, [(1, 3), (1, 5)]), run(turned, [(2, 3), (1, 5)])) == (12, 12)
    assert with_ties_turned("def solution(items):\n    return len(items)\n") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Count the hills. A hill is not counted if it is steep.", ["steep"]),
        ("How many steep roads are there?", ["steep"]),
        ("A road is called steep if it rises by 9 m. How many steep roads are there?", []),
        ("Tom is 170 cm tall and rides on a large horse.", []),
        ("Steep means more than 9. Only steep roads count.", []),
        ("He rests only when it rains often.", ["often"]),
        ("How many metres is it long?", []),
    ],
)
def test_words_of_degree_need_a_border_where_something_depends_on_them(text, words):
    assert [word for word, _ in undefined_terms(text)] == words


def test_no_seed_has_a_word_without_a_border_and_the_doctor_s_says_who_goes_first():
    for name in ("overlapping-posters", "pouring-glasses", "shift-overlap"):
        assert list(undefined_terms(stated(seed_family(name)))) == []
    clinic = seed_family("clinic-queue")
    assert says_order_of_equals(stated(clinic))
    silent = clinic.template.replace("; when several patients are equal in this, [Rule tie]", "")
    assert not says_order_of_equals(stated(replace(clinic, template=silent)))
