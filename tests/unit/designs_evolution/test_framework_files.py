"""Reading files of the paper's framework: what can be used, and what cannot with the reason."""

import pytest
from framework_files import BASE, REACH, SOLVERS, write_files

from evolake.designs.evolution.importing import find_files, read_framework
from evolake.errors import InputError
from evolake.objectives.source import objective_id


def test_each_solver_is_a_design_or_says_what_is_wrong(tmp_path):
    write_files(tmp_path)
    (tmp_path / "solvers" / "solver_6.py").write_bytes(b"\xff\xfe")
    (tmp_path / "solvers" / "solver_x.py").write_text("no number")
    result = read_framework(find_files(tmp_path))
    assert {row["original_id"]: (row["state"], row["reason"]) for row in result.designs} == {
        **dict.fromkeys((0, 1, 2, 3, 7, 8), ("read", None)),
        5: ("malformed", "solver_5.py is empty"),
        6: ("malformed", "solver_6.py cannot be read: UTF-16 in place of UTF-8"),
    }
    assert result.sources == {number: text for number, text in SOLVERS.items() if text}


def test_objectives_come_with_their_code_and_their_description_if_there_is_one(tmp_path):
    result = {row["original_id"]: row for row in read_framework(find_files(write_files(tmp_path))).objectives}
    assert {key: (row["description"], row["reason"]) for key, row in result.items()} == {
        0: ("Sum of steps", None),
        1: ("Reach", None),
        2: ("objective 2 of another search", None),
        4: ("objective 4 of another search", "objective_4.py is empty"),
    }
    assert (result[0]["code"], result[1]["objective_id"]) == (BASE, objective_id(REACH))


def test_files_are_known_by_what_they_say_and_not_by_where_they_are(tmp_path):
    here, there = (
        find_files(write_files(tmp_path / name, suffix)) for name, suffix in (("a", ""), ("b", "_22"))
    )
    assert (there.source, there.folder("solvers")) == ("b_22", tmp_path / "b" / "solvers_22")
    first = read_framework(here).bundle_id()
    assert first == read_framework(there).bundle_id()
    (tmp_path / "a" / "solvers" / "solver_3.py").write_text("import sys\n")
    assert first != read_framework(here).bundle_id()


@pytest.mark.parametrize(("content", "got"), [("7", "a int"), ("{", "no JSON"), ("[" * 100_000, "no JSON")])
def test_metadata_that_cannot_be_read_is_an_error_that_names_it(tmp_path, content, got):
    path = write_files(tmp_path) / "objectives" / "metadata.json"
    path.write_text(content)
    with pytest.raises(InputError) as error:
        read_framework(find_files(tmp_path))
    assert str(path) in error.value.what and got in str(error.value.got)
    assert error.value.wanted and error.value.do


def test_one_folder_of_solvers_is_asked_for(tmp_path):
    for name in ("solvers_1", "solvers_2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "solver_0.py").write_text("")
    with pytest.raises(InputError, match="no one folder of solvers") as caught:
        find_files(tmp_path)
    assert "solvers_1, solvers_2" in str(caught.value.got)
    with pytest.raises(InputError, match="no one folder of solvers"):
        find_files(tmp_path / "nowhere")
