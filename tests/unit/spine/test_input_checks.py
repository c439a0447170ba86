"""What the doctor says of variables and seeds before a run reads them."""

from __future__ import annotations

import ast
import re
import shutil

import pytest

from evolake.cli.doctor import READ_APART, _format, _jail, input_checks, seeds_check, unknown_variables
from evolake.lake import lake_format
from evolake.project import BROUGHT
from evolake.settings import load, settings_type

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
            "evolake_desings__batch is read by nothing; did you mean EVOLAKE_DESIGNS?",
        ),
        ("EVOLAKE_QQQQQQ", "EVOLAKE_QQQQQQ is read by nothing"),
    ],
)
def test_a_variable_that_nothing_reads_is_named_with_the_nearest(name, complaint):
    assert unknown_variables({name: "1", "HOME": "/"}) == [complaint]


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
