"""What a user of the programs line gets wrong first: a syntax error, and an edit of a project that is in the
line already."""

from __future__ import annotations

from pathlib import Path

import commands
import pytest

import evolake
from evolake.errors import InputError
from evolake.lake import Lake
from evolake.programs.model.project import files_sha, read_files
from evolake.programs.tables import PROJECTS

PROGRAM = "def curve(x):\n    return x\n"
EVALUATOR = (
    "def cases(seed):\n    return [1.0]\n\n\ndef score(cases, results):\n    return {'combined_score': 1.0}\n"
)
PROJECT = '[program]\nentry = "curve"\n[evaluator]\nmode = "separate"\n'


def enter(lake: Path, name: str, sha: str) -> None:
    """Publish that the project entered the line with these files."""
    rows = PROJECTS.frame([{"project": name, "cycle": "0001", "project_sha": sha, "blob_sha": "ab" * 32}])
    Lake(lake).publish("programs", "projects", rows, cycle="0001", run_id="r", schema=PROJECTS)


def test_a_syntax_error_is_the_programs_fault_and_names_file_and_line(tmp_path):
    assert commands.evolake("programs", "new", "mine", "--in", tmp_path).returncode == 0
    text = (tmp_path / "mine" / "initial_program.py").read_text()
    (tmp_path / "mine" / "initial_program.py").write_text(text.replace("def curve(x):", "def curve(x)"))
    line = next(
        number for number, content in enumerate(text.splitlines(), start=1) if "def curve(x):" in content
    )
    done = commands.evolake("programs", "check", tmp_path / "mine")
    assert (done.returncode, done.stderr) == (1, "")
    assert f"initial_program.py cannot be parsed: expected ':' (line {line})" in done.stdout
    assert "seeds add" not in done.stdout, "what is blocked is not recommended to be added"


def test_check_says_that_an_edited_project_does_not_replace_the_one_in_the_line(tmp_path, monkeypatch):
    lake = tmp_path / "lake"
    monkeypatch.setenv("EVOLAKE_LAKE", str(lake))
    assert commands.evolake("programs", "new", "mine", "--in", tmp_path).returncode == 0
    enter(lake, "mine", files_sha(read_files(tmp_path / "mine")))
    same = commands.evolake("programs", "check", tmp_path / "mine", "--runs", "2").stdout
    assert "other files" not in same
    (tmp_path / "mine" / "evaluator.py").write_text(
        (tmp_path / "mine" / "evaluator.py").read_text() + "\n# another\n"
    )
    edited = commands.evolake("programs", "check", tmp_path / "mine", "--runs", "2").stdout
    assert "already has a project mine with other files and continues with those: rename the folder" in edited


def test_evolve_refuses_other_texts_under_a_name_that_the_lake_has(tmp_path):
    enter(tmp_path / "lake", "project", "cd" * 32)
    with pytest.raises(InputError, match="holds a project 'project' with other files") as raised:
        evolake.evolve(PROGRAM, EVALUATOR, project=PROJECT, lake=tmp_path / "lake")
    assert raised.value.do == "give another name (name=...) or another lake (lake=...)"


def test_evolve_names_the_line_of_a_syntax_error_before_anything_runs(tmp_path):
    with pytest.raises(InputError) as raised:
        evolake.evolve("def curve(x)\n    return x\n", EVALUATOR, project=PROJECT, lake=tmp_path / "lake")
    assert raised.value.got == "initial_program.py cannot be parsed: expected ':' (line 1)"
    assert not (tmp_path / "lake").exists()


@pytest.mark.parametrize(
    "given",
    [
        (PROGRAM, lambda path: {"combined_score": 1.0}),
        (PROGRAM, EVALUATOR.encode()),
        (PROGRAM, ["evaluator.py"]),
        (test_evolve_names_the_line_of_a_syntax_error_before_anything_runs, EVALUATOR),
    ],
    ids=["a function", "bytes", "a list", "a function as the program"],
)
def test_evolve_says_what_to_pass_instead_of_a_function(given, tmp_path):
    with pytest.raises(InputError, match="cannot be read from a value of the type") as raised:
        evolake.evolve(*given, project=PROJECT, lake=tmp_path / "lake")
    assert "the path of a Python file, or its text" in str(raised.value.wanted)
    assert "pass the path of that file" in str(raised.value.do)
    assert not (tmp_path / "lake").exists()
    with pytest.raises(InputError, match="there is no evaluator"):
        evolake.evolve(given[0], lake=tmp_path / "lake")


def test_evolve_prints_a_line_for_each_cycle_unless_it_is_told_not_to(tmp_path, capsys):
    sizes = {"cycles": 1, "generations_per_cycle": 1, "candidates_per_generation": 2, "heldout_repeats": 2}
    for verbose in (True, False):
        found = evolake.evolve(
            PROGRAM, EVALUATOR, project=PROJECT, lake=tmp_path / "lake", verbose=verbose, **sizes
        )
        assert ("programs: cycle " in capsys.readouterr().err) is verbose
    assert found.cycles == 2


@pytest.mark.parametrize(
    ("evaluator", "place", "error"),
    [
        (
            EVALUATOR.replace("return [1.0]", "return [1.0"),
            "evaluator.py, line 2: ",
            "SyntaxError: '[' was never closed",
        ),
        (
            EVALUATOR.replace("return {", "return missing or {"),
            "evaluator.py, line 6: ",
            "NameError: name 'missing' is not defined",
        ),
    ],
)
def test_an_error_of_the_evaluator_names_its_file_line_and_exception(tmp_path, evaluator, place, error):
    (tmp_path / "mine").mkdir()
    for name, text in (
        ("initial_program.py", PROGRAM),
        ("evaluator.py", evaluator),
        ("project.toml", PROJECT),
    ):
        (tmp_path / "mine" / name).write_text(text)
    done = commands.evolake("programs", "check", tmp_path / "mine", "--runs", "2")
    assert done.returncode in (1, 2)
    assert place + error in done.stdout + done.stderr
