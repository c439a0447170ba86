"""What the doctor says of variables and seeds before a run reads them."""

import ast
import os
import re
import shutil

import commands
import pytest

from evolake.cli.doctor import _format, _jail, input_checks, seeds_check
from evolake.errors import InputError
from evolake.lake import lake_format
from evolake.project import BROUGHT
from evolake.settings import READ_APART, load, settings_type, unknown_variables
from evolake.terminal import forget_warnings

SEEDS = BROUGHT / "data_lake" / "seeds"


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("EVOLAKE_LAEK", "EVOLAKE_LAEK is read by nothing; did you mean EVOLAKE_LAKE?"),
        (
            "EVOLAKE_MODEL_BASEURL",
            "EVOLAKE_MODEL_BASEURL is read by nothing; did you mean EVOLAKE_MODEL_BASE_URL?",
        ),
        (
            "evolake_desings__batch",
            "evolake_desings__batch is read by nothing; did you mean EVOLAKE_DESIGNS__BATCH?",
        ),
        (
            "EVOLAKE_PROGRAM__BATCH",
            "EVOLAKE_PROGRAM__BATCH is read by nothing; did you mean EVOLAKE_PROGRAMS__BATCH?",
        ),
        ("EVOLAKE_BACKENDS", "EVOLAKE_BACKENDS is read by nothing; did you mean EVOLAKE_BACKEND?"),
        ("EVOLAKE_BACKEND__X", "EVOLAKE_BACKEND__X is read by nothing; did you mean EVOLAKE_BACKEND?"),
        (
            "EVOLAKE_TOKENS_PER_CYCLE",
            "EVOLAKE_TOKENS_PER_CYCLE is read by nothing; did you mean EVOLAKE_BUDGET__TOKENS_PER_CYCLE?",
        ),
        (
            "EVOLAKE_DESIGNS_BATCH",
            "EVOLAKE_DESIGNS_BATCH is read by nothing; did you mean EVOLAKE_DESIGNS__BATCH?",
        ),
        ("EVOLAKE_QQQQQQ", "EVOLAKE_QQQQQQ is read by nothing"),
    ],
)
def test_a_variable_that_nothing_reads_is_named_with_the_nearest(name, complaint):
    assert unknown_variables({name: "1", "HOME": "/"}) == [complaint]


@pytest.mark.parametrize(
    "words", [["status"], ["lake", "verify"], ["sql", "SELECT 1"], ["seeds", "list"], ["champion", "designs"]]
)
def test_every_command_that_reads_settings_says_what_is_misspelled(words, tmp_path, monkeypatch):
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    monkeypatch.setenv("EVOLAKE_BACKENDS", "model")
    monkeypatch.setenv("EVOLAKE_OF_ANOTHER_TOOL", "1")
    said = commands.evolake(*words).stderr
    assert said.count("warning: EVOLAKE_BACKENDS is read by nothing; did you mean EVOLAKE_BACKEND?\n") == 1
    assert "EVOLAKE_OF_ANOTHER_TOOL" not in said


def test_a_process_that_a_command_starts_does_not_say_it_again(monkeypatch, capsys):
    forget_warnings()
    monkeypatch.setenv("EVOLAKE_BACKENDS", "model")
    monkeypatch.setenv("EVOLAKE_WARNED", "1")
    load()
    assert capsys.readouterr().err == ""


def test_a_name_that_a_section_does_not_have_is_refused_with_the_nearest(monkeypatch):
    monkeypatch.setenv("EVOLAKE_DESIGNS__BACH", "3")
    with pytest.raises(InputError, match="there is no setting EVOLAKE_DESIGNS__BACH") as raised:
        load()
    assert str(raised.value.do).startswith("did you mean EVOLAKE_DESIGNS__BATCH?")


@pytest.mark.parametrize("name", ["EVOLAKE_LAKE", "EVOLAKE_SEEDS", "DAGSTER_HOME"])
def test_a_path_that_cannot_be_stored_is_named_and_a_home_is_found(name, tmp_path, monkeypatch):
    monkeypatch.setenv(name, f"{tmp_path}/caf\udce9")
    with pytest.raises(InputError, match=f"{name} is a path that is not UTF-8"):
        load()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(name, "~/x")
    load()
    assert os.environ[name] == f"{tmp_path}/x"
    monkeypatch.setenv(name, "~nobody-of-this-name/x")
    with pytest.raises(InputError, match=f"{name} names the home of no user"):
        load()


def test_settings_of_any_depth_and_variables_read_apart_are_known():
    names = [
        "EVOLAKE_LAKE",
        "EVOLAKE_DESIGNS__LOW__MAX_N",
        "EVOLAKE_MODELS__DEFAULT",
        "EVOLAKE_BUDGET__USD_PER_RUN",
        *READ_APART,
    ]
    assert unknown_variables(dict.fromkeys(names, "1")) == []


def test_what_is_read_apart_from_the_settings_is_listed():
    fields = {f"EVOLAKE_{name.upper()}" for name in settings_type().model_fields}
    read = set()
    for package in ("evolake", "assets", "resources", "pipelines"):
        for path in (BROUGHT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if (
                    isinstance(node, ast.Constant)
                    and isinstance(node.value, str)
                    and re.fullmatch(r"EVOLAKE_[A-Z_]*[A-Z]", node.value)
                ):
                    read.add(node.value.partition("__")[0])
    assert read - fields == READ_APART


def test_seeds_that_are_not_there_are_named(tmp_path):
    assert seeds_check(SEEDS)["ok"]
    assert seeds_check(tmp_path / "none")["detail"] == f"{tmp_path / 'none'}: the folder itself not there"
    kept = shutil.copytree(SEEDS, tmp_path / "seeds")
    shutil.rmtree(kept / "rules")
    assert seeds_check(kept)["detail"] == f"{kept}: rules not there"


def test_a_stray_variable_is_no_obstacle_and_is_told(monkeypatch):
    monkeypatch.setenv("EVOLAKE_SEEDS", str(SEEDS))
    result = {check["name"]: check for check in input_checks(load(), {"EVOLAKE_LAEK": "1"})}
    assert not result["variables"]["ok"] and "needed" not in result["variables"]


def test_a_lake_of_a_newer_format_cannot_be_used(tmp_path):
    assert _format(tmp_path).ok
    (tmp_path / lake_format.MARKER).write_text('{"format": 999, "evolake": "9.9", "read_by": "9.0"}')
    check = _format(tmp_path)
    assert (check.ok, check.needed, "use evolake 9.0 or newer" in check.mend) == (False, True, True)


def test_the_weaker_jail_is_not_said_to_be_healthy():
    mode = next(check for check in _jail("rlimits") if check.name == "jail: mode")
    assert (mode.ok, mode.needed, mode.skips) == (False, False, "walls around generated code")
