"""No bad input to any command ends in a traceback or is called a bug: each case of `tests/bad_inputs.txt`
ends as its row says."""

import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
from pathlib import Path

import click
import polars as pl
import pytest
from bad_inputs import CASES, FILES, Case

from evolake.cli import cli
from evolake.cli.ending import PIPE_CLOSED, end, expected
from evolake.errors import InputError, MachineryError
from evolake.gates.checkers import CHECKERS, apply
from evolake.gates.rules import load_rules
from evolake.solvers.repository.seeds_file import load_seeds

OWN = FileNotFoundError(2, "gone", end.__code__.co_filename)
SEEDS = Path(__file__).resolve().parents[3] / "data_lake" / "seeds"


@pytest.fixture(scope="module")
def here(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("bad_input")
    for name, data in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    pl.DataFrame({"objective_id": [0, 0], "design_id": [1, 2], "score": [1.0, 2.0]}).write_parquet(
        folder / "scores.parquet"
    )
    pl.DataFrame({"x": [1]}).write_parquet(folder / "other.parquet")
    (folder / "words.json").write_text('{"0": "x"}')
    return folder


def commands(
    command: click.Command | None, path: tuple[str, ...], context: click.Context
) -> list[tuple[str, ...]]:
    """The path of every command that there is, of every installed line."""
    if not isinstance(command, click.Group):
        return [path]
    return [
        result
        for name in command.list_commands(context)
        for result in commands(command.get_command(context, name), (*path, name), context)
    ]


def words_of(case: Case, here: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The words of a case; its variables are set and no others of evolake's."""
    for name in [name for name in os.environ if name.startswith("EVOLAKE_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(here)
    monkeypatch.setenv("EVOLAKE_LAKE", str(here / "lake"))
    monkeypatch.setenv("DAGSTER_HOME", str(here / "home"))
    words = shlex.split(case.typed.replace("{here}", str(here)).replace("{seeds}", str(SEEDS)))
    while words and words[0].partition("=")[0].startswith("EVOLAKE_"):
        name, _, value = words.pop(0).partition("=")
        monkeypatch.setenv(name, value)
    return words


@pytest.mark.parametrize("case", CASES, ids=[case.typed for case in CASES])
def test_it_ends_with_its_exit_code_and_a_sentence(case, here, monkeypatch, capsys):
    words = words_of(case, here, monkeypatch)
    code, said = end(cli, words), capsys.readouterr()
    assert (code, case.complaint in said.err) == (case.code, True), said.err
    assert "Traceback" not in said.err and "this is a bug" not in said.err


@pytest.mark.parametrize("case", CASES[::9], ids=[case.typed for case in CASES[::9]])
def test_with_json_the_error_is_an_object_on_standard_output(case, here, monkeypatch, capsys):
    words = words_of(case, here, monkeypatch)
    code, summary = end(cli, [*words, "--json"]), json.loads(capsys.readouterr().out)
    assert (summary["verdict"], summary["exit_code"]) == ("error", code) and code in (2, 3)
    assert summary["message"] and set(summary) >= {"what", "wanted", "got", "next"}


def test_every_command_has_cases_and_there_are_enough():
    typed = [[word for word in case.typed.split() if not word.startswith("EVOLAKE_")] for case in CASES]
    bare = [
        path
        for path in commands(cli, (), click.Context(cli))
        if not any(tuple(words[: len(path)]) == path for words in typed)
    ]
    assert bare == [], "write cases for these into tests/bad_inputs.txt"
    assert len(CASES) >= 250 and len({case.typed for case in CASES}) == len(CASES)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OSError(28, "No space left on device", "/lake/x"), MachineryError),
        (OSError(30, "Read-only file system", "/lake/x"), MachineryError),
        (PermissionError(13, "Permission denied", "/lake/x"), MachineryError),
        (OSError(27, "File too large", "/lake/x"), MachineryError),
        (OSError(24, "Too many open files"), MachineryError),
        (MemoryError("Unable to allocate 93 GiB"), MachineryError),
        (sqlite3.DatabaseError("database disk image is malformed"), MachineryError),
        (NotADirectoryError(20, "Not a directory", "/file/x"), InputError),
        (IsADirectoryError(21, "Is a directory", "/folder"), InputError),
        (FileNotFoundError(2, "No such file or directory", "/gone"), InputError),
        (OSError(36, "File name too long", "x" * 300), InputError),
        (FileNotFoundError(2, "No such file or directory", str(Path(click.__file__))), InputError),
    ],
)
def test_what_the_machine_refuses_is_no_bug(error, kind):
    assert type(expected(error)) is kind


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("x"), OSError("no number"), RuntimeError(), OWN])
def test_a_bug_is_called_one(error, capsys):
    @click.command()
    def broken() -> None:
        raise error

    assert (expected(error), end(broken, [])) == (None, 3)
    assert "this is a bug" in capsys.readouterr().err


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (click.Abort(), 130)])
def test_ctrl_c_ends_with_one_sentence(error, code, capsys):
    @click.command()
    def stopped() -> None:
        raise error

    assert end(stopped, []) == code
    assert (
        capsys.readouterr().err.strip()
        == "interrupted; what was finished is kept, run the command again to continue"
    )


@pytest.mark.parametrize("typed", [("--help",), ("rules", "checkers")])
def test_a_reader_that_is_gone_is_no_verdict(typed):
    """1 says that something was judged bad; whoever closed the pipe did not hear what was."""
    read, write = os.pipe()
    os.close(read)
    program = "import sys; from evolake.cli import main; main()"
    with os.fdopen(write) as closed:
        done = subprocess.run(
            [sys.executable, "-c", program, *typed],
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (PIPE_CLOSED, "")


@pytest.mark.parametrize(
    "seeds", sorted({name.partition("/")[0] for name in FILES if name.endswith("solvers.toml")})
)
def test_a_mistyped_solvers_toml_is_an_input_error_that_names_the_file(seeds, here):
    with pytest.raises(InputError, match=r"solvers\.toml"):
        load_seeds(here / seeds / "solvers.toml")


@pytest.mark.parametrize(
    "data",
    [
        FILES["binary"],
        FILES["latin"],
        b"---\nid: ../../x\nversion: 1\nkind: static\ngate: g\ncheck: c\n---\n",
        b"",
    ],
)
def test_a_rule_file_that_is_none_is_an_input_error_that_names_the_file(data, tmp_path):
    (tmp_path / "designs").mkdir()
    (tmp_path / "designs" / "rule.md").write_bytes(data)
    with pytest.raises(InputError, match=r"rule\.md"):
        load_rules(tmp_path, "designs")


def test_a_pattern_of_a_rule_that_is_no_regular_expression_is_an_input_error(monkeypatch):
    monkeypatch.setitem(
        CHECKERS, "test.pattern", lambda evidence, *, pattern: re.search(pattern, evidence["text"]) and None
    )
    with pytest.raises(InputError, match="no regular expression"):
        apply("test.pattern", {"text": "x"}, {"pattern": "("})
