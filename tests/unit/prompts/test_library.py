"""The principle library and the roots: what ships is sound, and what is not is refused."""

import pytest
from prompts_fixtures import library

from evolake.errors import InputError
from evolake.prompts.model.library import SYMPTOMS, library_of, load_library, load_roots
from evolake.prompts.model.prompt import LONGEST_TEXT

GOOD = [
    {"name": "brief", "symptoms": ["long"], "versions": ["Be brief.", "Be very brief.", "One word."]},
    {"name": "last", "symptoms": ["buried"], "versions": ["End."]},
    {"of": ["brief", "last"], "text": "Be brief and end."},
]


def test_every_symptom_is_answered_by_the_library_that_ships():
    result = library()
    assert [symptom for symptom in SYMPTOMS if not result.answering(symptom)] == []
    assert all(len(text) <= LONGEST_TEXT for entry in result.entries for text in entry.versions)


def test_principles_are_known_by_their_text():
    result = library_of(GOOD)
    assert result.names_of("Be  very brief.") == ("brief",) and result.names_of("Be brief and end.") == (
        "brief",
        "last",
    )
    assert result.names_of("Something else.") == ()
    assert result.stricter("Be brief.") == "Be very brief."
    assert (
        result.stricter("Be very brief.") == "One word."
        and result.stricter("One word.") is None
        and result.stricter("Something else.") is None
    )
    assert [entry.name for entry in result.answering("buried")] == ["last"]


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ({"name": "brief", "symptoms": [], "versions": ["Other."]}, "brief is there twice"),
        ({"name": "x", "symptoms": ["rash"], "versions": ["Other."]}, "x answers 'rash'"),
        ({"name": "x", "symptoms": [], "versions": []}, "x has no versions"),
        ({"name": "x", "symptoms": [], "versions": [" "]}, "an empty text"),
        ({"name": "x", "symptoms": [], "versions": ["End."]}, "is there twice"),
        ({"of": ["brief", "x"], "text": "y"}, "a merge of brief and x"),
        ({"of": ["brief", "brief"], "text": "y"}, "a merge of brief and brief"),
        ({"name": "x"}, "cannot be read"),
        ({"of": ["brief"]}, "cannot be read"),
    ],
)
def test_a_library_that_contradicts_itself_is_refused(row, fault):
    with pytest.raises(InputError, match=fault):
        library_of([*GOOD, row])


@pytest.mark.parametrize(
    "text",
    [
        None,
        "no json",
        "[1]",
        "{}",
        '{"a": "Count."}',
        '{"a": [1]}',
        '{"a": ["Count."], "b": ["Count."]}',
        '{"a": [""]}',
    ],
)
def test_a_file_without_usable_roots_is_refused(tmp_path, text):
    if text is not None:
        (tmp_path / "roots.json").write_text(text)
    with pytest.raises(InputError):
        load_roots(tmp_path)


@pytest.mark.parametrize("text", [None, "no json", "[1]", '{"entries": [1]}'])
def test_a_folder_without_a_readable_library_is_refused(tmp_path, text):
    if text is not None:
        (tmp_path / "library.json").write_text(text)
    with pytest.raises(InputError, match="library"):
        load_library(tmp_path)
