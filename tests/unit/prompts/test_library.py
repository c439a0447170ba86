"""The principle library and the roots: what ships is sound, and what is not is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from prompts_house import SEEDS, library

from evolake.errors import InputError
from evolake.prompts.edits import LONGEST_TEXT
from evolake.prompts.library import SYMPTOMS, library_of, read_library, read_root

GOOD = [
    {"name": "brief", "symptoms": ["long"], "versions": ["Be brief.", "Be very brief."]},
    {"name": "last", "symptoms": ["buried"], "versions": ["End."]},
    {"of": ["brief", "last"], "text": "Be brief and end."},
]


def test_every_symptom_is_answered_by_the_library_that_ships() -> None:
    found = library()
    assert [symptom for symptom in SYMPTOMS if not found.answering(symptom)] == []
    assert all(len(text) <= LONGEST_TEXT for entry in found.entries for text in entry.versions)


def test_rows_give_the_library_back() -> None:
    assert library_of(library().to_rows()) == library()


def test_principles_are_known_by_their_text() -> None:
    found = library_of(GOOD)
    assert found.names_of("Be  very brief.") == ("brief",) and found.names_of("Be brief and end.") == ("brief", "last")
    assert found.names_of("Something else.") == ()
    assert found.stricter("Be brief.") == "Be very brief."
    assert found.stricter("Be very brief.") is None and found.stricter("Something else.") is None
    assert [entry.name for entry in found.answering("buried")] == ["last"]


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ({"name": "brief", "symptoms": [], "versions": ["Other."]}, "brief stands there twice"),
        ({"name": "x", "symptoms": ["rash"], "versions": ["Other."]}, "x answers 'rash'"),
        ({"name": "x", "symptoms": [], "versions": []}, "x has no versions"), ({"name": "x", "symptoms": [], "versions": [" "]}, "an empty text"),
        ({"name": "x", "symptoms": [], "versions": ["End."]}, "stands there twice"), ({"of": ["brief", "x"], "text": "y"}, "a merge of brief and x"),
        ({"of": ["brief", "brief"], "text": "y"}, "a merge of brief and brief"), ({"name": "x"}, "cannot be read"),
        ({"of": ["brief"]}, "cannot be read"),
    ],
)
def test_a_library_that_contradicts_itself_is_refused(row: dict, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        library_of([*GOOD, row])


def test_roots_are_named(tmp_path: Path) -> None:
    assert read_root(SEEDS, "plain").texts == ("Solve the problem and end with the answer.",) and read_root(SEEDS, "empty").texts == ()
    with pytest.raises(InputError, match="no root prompt 'other'") as caught:
        read_root(SEEDS, "other")
    assert caught.value.wanted == "one of empty, plain, terse"


@pytest.mark.parametrize("text", [None, "no json", json.dumps([1])])
def test_a_folder_without_a_readable_library_is_refused(tmp_path: Path, text: str | None) -> None:
    (tmp_path / "prompts").mkdir()
    if text is not None:
        (tmp_path / "prompts/library.json").write_text(text)
    with pytest.raises(InputError, match=r"library\.json"):
        read_library(tmp_path)
