"""Nested, huge and odd texts in settings, projects, families, rules and options end as a sentence with exit
code 2, never as a bug."""

import os
from pathlib import Path

import polars as pl
import pytest
from bad_inputs import FAMILY
from commands import evolake

from evolake.cells import Cells
from evolake.errors import InputError
from evolake.gates.rules import load_rules

DEEP, LONG, TABLES, PARTS = "[" * 100_000, "9" * 10_000, '{"a":' * 50_000, ".".join(["a"] * 50_000) + " = 1"
VARIABLES = (
    "EVOLAKE_MODELS",
    "EVOLAKE_BUDGET",
    "EVOLAKE_PRICES",
    "EVOLAKE_SOLVERS__SEEDS",
    "EVOLAKE_SYSTEM_PROMPTS",
    "EVOLAKE_DESIGNS",
)


def run(here: Path, *typed: str, **environment: str):
    return evolake(
        *typed,
        cwd=here,
        environment={"EVOLAKE_LAKE": str(here / "lake"), "HOME": str(here), "PATH": os.environ["PATH"]}
        | environment,
    )


def refused(here: Path, *typed: str, says: str = "", **environment: str) -> None:
    done = run(here, *typed, **environment)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr and "this is a bug" not in done.stderr and len(done.stderr) < 8000


@pytest.mark.parametrize(
    "value", [DEEP, TABLES, LONG, "[" * 900 + "]" * 900], ids=["lists", "tables", "digits", "closed"]
)
@pytest.mark.parametrize("name", VARIABLES)
def test_a_variable_that_is_nested_or_huge_is_named(name, value, tmp_path):
    refused(tmp_path, "status", says=name.partition("__")[0], **{name: value})


@pytest.mark.parametrize("value", [LONG, "\u00b2", "1e999"])
@pytest.mark.parametrize(
    "name", ["EVOLAKE_SEED", "EVOLAKE_WORKERS", "EVOLAKE_BUDGET__USD_PER_RUN", "EVOLAKE_MODEL_TIMEOUT_S"]
)
def test_a_number_that_is_none_is_named(name, value, tmp_path):
    refused(
        tmp_path, "status", says=name.partition("__")[0].removeprefix("EVOLAKE_").lower(), **{name: value}
    )


def project(here: Path, name: str, text: str) -> None:
    (here / "p").mkdir()
    (here / "p/initial_program.py").write_text("x = 1\n")
    (here / "p/evaluator.py").write_text("def evaluate(path):\n    return {'score': 1.0}\n")
    (here / "p" / name).write_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "a = " + DEEP,
        "a = " + LONG,
        PARTS,
        "a = " + "{b=" * 3000,
        "[evaluator]\nmemory_mb = " + "9" * 290,
        "[program]\nfiles = [" + "'a'," * 2_000_000 + "]",
        "[" + ".".join(["a"] * 50_000) + "]",
        "a = \u00b2",
    ],
    ids=["lists", "digits", "parts", "tables", "float", "long", "table", "superscript"],
)
def test_a_project_file_that_is_nested_or_huge_is_refused_at_once(text, tmp_path):
    project(tmp_path, "project.toml", text)
    refused(tmp_path, "programs", "check", "p", says="project.toml")


@pytest.mark.parametrize(
    "text",
    [
        "a: " + DEEP,
        "a: " + LONG,
        "max_iterations: " + "9" * 400,
        "a: &x {b: *x}",
        "- " * 5000 + "a",
        "{a: " * 3000,
        "? " * 3000,
        "a: &a [x,x]\n"
        + "".join(
            f"k{n}: &k{n} [*{'a' if n == 0 else f'k{n - 1}'},*{'a' if n == 0 else f'k{n - 1}'}]\n"
            for n in range(40)
        ),
        "evaluator:\n  cascade_thresholds: [" + "9" * 400 + "]",
        "a: !!python/object:os.system x",
        "a: 2001-99-99",
    ],
    ids=[
        "lists",
        "digits",
        "used",
        "itself",
        "deep",
        "tables",
        "keys",
        "aliases",
        "threshold",
        "object",
        "date",
    ],
)
def test_a_config_that_is_nested_or_huge_is_refused_at_once(text, tmp_path):
    project(tmp_path, "config.yaml", text)
    refused(tmp_path, "programs", "check", "p", says="config.yaml")


@pytest.mark.parametrize(
    "text",
    ["id = " + DEEP, PARTS, "id = " + LONG, "id = '\u00b2'"],
    ids=["lists", "parts", "digits", "superscript"],
)
def test_a_familys_settings_are_refused_by_name(text, tmp_path):
    for name, data in FAMILY.items():
        (tmp_path / "f").mkdir(exist_ok=True)
        (tmp_path / "f" / name).write_bytes(data)
    (tmp_path / "f/family.toml").write_text(text)
    refused(tmp_path, "families", "check", "f", says="family.toml")


@pytest.mark.parametrize(
    "text", [DEEP, '{"generator": ' + LONG + "}", TABLES], ids=["lists", "digits", "tables"]
)
def test_files_of_json_are_refused_by_name(text, tmp_path):
    pl.DataFrame({"objective_id": [0, 0], "design_id": [1, 2], "score": [1.0, 2.0]}).write_parquet(
        tmp_path / "s.parquet"
    )
    for name in ("f.jsonl", "c.json"):
        (tmp_path / name).write_text(text)
    refused(tmp_path, "families", "check", "f.jsonl", says="f.jsonl")
    refused(tmp_path, "consensus", "rank", "s.parquet", "--created", "c.json", "--round", "1", says="c.json")
    refused(tmp_path, "repair", "certify", "c.json", "c.json", says="c.json")


@pytest.mark.parametrize(
    "line",
    ["version: \u00b2", "version: " + LONG, "parameters: " + DEEP, 'parameters: {"a": ' + LONG + "}"],
    ids=["superscript", "version", "lists", "digits"],
)
def test_a_rule_is_refused_by_name(line, tmp_path):
    (tmp_path / "rules/designs").mkdir(parents=True)
    (tmp_path / "rules/designs/x.md").write_text(
        f"---\nid: x\nkind: hard\ngate: trace\ncheck: x\n{line}\n---\n"
    )
    with pytest.raises(InputError, match=r"x\.md"):
        load_rules(tmp_path / "rules", "designs")


@pytest.mark.parametrize("number", ["\u00b2", "9" * 400, "9" * 5000, "-1", "\u0663" * 500])
def test_numbers_of_options_have_an_end(number, tmp_path):
    pl.DataFrame({"objective_id": [0, 0], "design_id": [1, 2], "score": [1.0, 2.0]}).write_parquet(
        tmp_path / "s.parquet"
    )
    (tmp_path / "c.json").write_text('{"0": 0}')
    refused(tmp_path, "consensus", "rank", "s.parquet", "--created", "c.json", "--round", number)
    refused(tmp_path, "report", "--cycle", number, "--out", "r.html")
    refused(tmp_path, "families", "export", "--format", "jsonl", "--out", "o", "--cycle", number)


@pytest.mark.parametrize(
    "cell", ["one_shot-" + "9" * 5000, "one_shot-\u00b2", "one_shot-\u0663", "one_shot-", "-1"]
)
def test_a_cell_of_a_study_is_no_other_text(cell):
    with pytest.raises(InputError):
        Cells("repair", ["one_shot"]).parse(cell)


def test_a_bundle_that_never_ends_is_refused_at_once(tmp_path):
    refused(tmp_path, "bundle", "verify", "/dev/zero", says="/dev/zero is a device")
