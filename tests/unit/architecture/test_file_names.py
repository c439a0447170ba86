"""One function names every file after data: whatever the text, the name stays in its folder and is no other
text's."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.errors import InputError
from evolake.file_names import LONGEST, check_id, file_name

HOSTILE = (
    "",
    ".",
    "..",
    "../../x",
    "/etc/passwd",
    "a/b",
    "a\\b",
    "C:\\x",
    "con",
    "NUL",
    "lpt1",
    "a\0b",
    "\ud800",
    "~",
    "-rf",
    ".hidden",
    "trailing.",
    "x " * 400,
    "a" * 101,
    "\u202etxt",
    "naïve",
    "nai\u0308ve",
    "\ufb01",
    "\u0130",
    "\u00df",
    "任务",
    "a\nb",
    "*",
    "$(id)",
    "%2e%2e",
)
TEXTS = st.one_of(
    st.text(st.characters(codec=None)), st.sampled_from(HOSTILE), st.text("abAB-_.~/ \\0", max_size=6)
)


@given(TEXTS)
def test_a_name_stays_in_its_folder_and_every_file_system_takes_it(text):
    name = file_name(text, ".html")
    assert Path("/folder", name).resolve().parent == Path("/folder")
    assert re.fullmatch(r"[a-z0-9][a-z0-9_~-]*\.html", name)
    assert len(name) <= LONGEST + len(".html")
    assert name.partition(".")[0] not in {
        "con",
        "prn",
        "aux",
        "nul",
        *(f"com{n}" for n in range(10)),
        *(f"lpt{n}" for n in range(10)),
    }
    assert name == file_name(text, ".html")


@given(TEXTS, TEXTS)
def test_two_texts_have_two_names_also_where_case_is_not_told_apart(first, second):
    assert (file_name(first).casefold() == file_name(second).casefold()) == (first == second)
    assert file_name(file_name(first)) != file_name(first) or "~" not in file_name(first), (
        "a name that was made is the plain name of nothing"
    )


@pytest.mark.parametrize(
    "text", ["survivor-3", "the_scaling", "0001", "a" * LONGEST, "3f2a0000-aaaa-bbbb-cccc-0123456789ab"]
)
def test_a_plain_text_keeps_its_name(text):
    assert file_name(text, ".png") == f"{text}.png"


@pytest.mark.parametrize("suffix", ["/../x", "html", ".a/b", "..", ".", ".H", "." + "x" * 200])
def test_a_suffix_is_ours_and_no_data(suffix):
    with pytest.raises(ValueError, match="suffix"):
        file_name("x", suffix)


@given(TEXTS)
def test_an_id_is_a_plain_name_or_an_input_error(text):
    try:
        assert file_name(check_id("a family", text)).startswith(text)
    except InputError as error:
        assert "lower-case" in str(error)


@pytest.mark.parametrize("value", [*HOSTILE, 7, None, ["a"], True])
def test_no_hostile_id_passes(value):
    if value in ("con", "lpt1"):
        assert check_id("a family", value) == value
        return
    with pytest.raises(InputError, match="cannot be used"):
        check_id("a family", value)
