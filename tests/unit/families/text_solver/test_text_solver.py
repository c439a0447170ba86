"""Texts read by the text solver: fixtures are right, altered texts are unread or have another answer."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evolake.families.text_solver import Answer, Right, Unread, Void, Wrong, check, solve

HERE = Path(__file__).parent
TEXTS = [json.loads(line) for line in (HERE / "texts.jsonl").read_text("utf-8").splitlines()]
OF_MANY = {"chain", "days", "cards", "signs", "guards", "discs"}
MANY = [case for case in TEXTS if case["kind"] in OF_MANY]


def _text(start: str) -> str:
    return next(case["text"] for case in TEXTS if case["text"].startswith(start))


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case["kind"])
def test_a_text_gives_its_label(case):
    assert check(case["text"], case["answer"]) == Right()
    found = solve(case["text"])
    assert isinstance(found, Answer)
    assert check(case["text"], found.value) == Right()
    assert found.many == (case in MANY)


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case["kind"])
def test_every_sentence_is_needed_or_read(case):
    """A foreign sentence anywhere, or a foreign word in any line, leaves the text unread."""
    lines = case["text"].split("\n")
    for place, line in enumerate(lines):
        for other in (line + " Rain is likely.", f"Perhaps {line}", line.replace(" ", " maybe ", 2)):
            if line:
                altered = "\n".join([*lines[:place], other, *lines[place + 1 :]])
                assert isinstance(solve(altered), Unread), altered


ALTERED = [
    ("On a shelf", "History stands to the left of both", "History does not stand left of both", None),
    ("On a shelf", "The number of Dictionary can be", "The number of Atlas can be", None),
    ("On a shelf", "is 4 or 3", "is 4 or 5", [3]),
    ("On a shelf", "- The number of Grammar is 4 or 3.\n", "", [1, 2, 3, 4]),
    ("In front of", "- Gerda stands on a place with an even number.\n", "", None),
    ("In a game", "provided that the pawn is", "unless the pawn is", None),
    ("In a game", "move 3 coins", "move 2 coins", 44),
    ("In a game", "an even-numbered field", "an odd-numbered field", None),
    ("Bales", "exactly 5", "at least 5", None),
    ("Bales", "put 3 bales", "put 2 bales", [1, 4, 5, 6]),
    ("Beads", "take 4 beads out of the red jar", "take 4 beads out of the blue jar", "UEUUEEDU"),
    ("For a concert", "number of pieces that are played is even", "number is odd", None),
    ("For a hike", "No more than 2 things", "No more than 1 things", 15),
    ("For a party", "- At least one of Ida, Cecil and Gustav is invited.\n", "", []),
    (
        "The scouts",
        "at most 3 in one tent",
        "at most 2 in one tent",
        {"Hasso": 1, "Gino": 3, "Enno": 3, "Dario": 2, "Falk": 2},
    ),
    ("The sailors", "sails there too", "sails elsewhere", None),
]


@pytest.mark.parametrize(("start", "old", "new", "answer"), ALTERED)
def test_an_altered_text_is_unread_or_has_its_own_answer(start, old, new, answer):
    text = _text(start)
    assert old in text
    found = solve(text.replace(old, new))
    if answer is None:
        assert isinstance(found, Unread | Void)
    else:
        assert isinstance(found, Answer)
        assert found.value == answer


@pytest.mark.parametrize("answer", [None, True, 7, "", "AAAA", [], [1], {}, {"March": 1}, [[1]]])
@pytest.mark.parametrize("case", MANY, ids=lambda case: case["kind"])
def test_an_answer_of_another_form_is_wrong(case, answer):
    assert isinstance(check(case["text"], answer), Wrong)


def test_one_broken_rule_makes_an_answer_wrong():
    plan = next(case for case in MANY if isinstance(case["answer"], dict))
    verdicts = [
        check(plan["text"], plan["answer"] | {name: plan["answer"]["March"]})
        for name in ("Finale", "Gigue", "Overture")
    ]
    assert all(isinstance(verdict, Wrong) for verdict in verdicts)


@pytest.mark.parametrize(
    "text", ["", "\n", "word " * 9_000, "In a race, " + "A, " * 5_000, "(1) " * 100, "{a} {is}"]
)
def test_other_texts_are_unread(text):
    assert isinstance(solve(text), Unread)
    assert isinstance(check(text, 1), Unread)


def test_a_text_whose_claim_does_not_hold_has_no_answer():
    text = _text("In front of").replace("- Gerda stands on a place with an even number.\n", "")
    found = solve(text)
    assert isinstance(found, Void)
    assert found.why == "the text says that exactly one fits; 2 do"
    assert check(text, "ABC") == Wrong(found.why)


def test_nothing_of_the_families_is_imported():
    import evolake.families.text_solver as package

    for file in Path(package.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("evolake"):
                allowed = ("evolake.families.text_solver", "evolake.errors", "evolake.terminal")
                assert (node.module or "").startswith(allowed), file


def test_the_answer_of_many_is_the_same_in_every_process():
    code = f"from evolake.families.text_solver import solve; print(solve({MANY[0]['text']!r}))"
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3", "4")
    }
    assert len(seen) == 1
