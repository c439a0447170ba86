"""`evolake sql` as a user types it: answers on standard output, everything else on standard error, and the
exit code says which it was."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import commands
import polars as pl
import pytest

from evolake.designs.tables import EXPERIMENTS
from evolake.lake import DERIVATIONS, Lake

ID = "f" * 64


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("data_lake")
    lake = Lake(root)
    frame = pl.DataFrame(
        {
            "design": [ID, "b"],
            "score": [float("inf"), 0.5],
            "note": ['a "quoted", text', None],
            "tags": [["x"], []],
        }
    )
    lake.publish("designs", "ranking", frame, cycle="0001", run_id="run")
    edges = DERIVATIONS.frame(
        [{"child_id": "b", "parent_id": ID, "operator": "swap", "weight": 1.0, "cycle": "0001"}]
    )
    lake.publish("designs", "candidates__derivations", edges, cycle="0001", run_id="run", schema=DERIVATIONS)
    return root


def evolake(root: Path, *words: str, cwd: Path | None = None) -> tuple[int, str, str]:
    done = commands.evolake("sql", "--lake", str(root), *words, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


def test_the_command_is_a_process_like_any_other(root):
    words = ["sql", "--lake", str(root), "SELECT design FROM designs.ranking", "--format", "csv"]
    done = subprocess.run(
        [Path(sys.executable).with_name("evolake"), *words], capture_output=True, text=True, check=False
    )
    assert (
        (done.returncode, done.stdout, done.stderr)
        == evolake(root, *words[3:])
        == (0, f"design\n{ID}\nb\n", "")
    )


def test_json_is_one_object_that_loses_nothing(root):
    code, out, err = evolake(root, "SELECT * FROM designs.ranking", "--format", "json")
    assert (code, json.loads(out), err) == (
        0,
        {
            "verdict": "ok",
            "columns": ["design", "score", "note", "tags", "cycle"],
            "rows": [[ID, "Infinity", 'a "quoted", text', ["x"], "0001"], ["b", 0.5, None, [], "0001"]],
        },
        "",
    )


@pytest.mark.parametrize("width", [80, 120])
def test_the_list_fits_the_terminal_and_begins_with_questions(root, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, err = evolake(root, "--list")
    lines = out.splitlines()
    assert (code, err, [line for line in lines if len(line) > width]) == (0, "", [])
    assert lines[0].startswith("Questions") and lines[1].startswith("  cookbook/blast_radius.sql")
    heads = [line for line in lines if line and not line.startswith(" ")]
    assert heads[1].startswith("Macros") and heads[2:4] == ["Tables of all lines", "Tables of designs"]
    assert "  designs.ranking                 2 rows in 1 cycle" in lines
    assert "(-p rule_id, before, after)" in " ".join(out.split())


def test_the_list_as_json_has_every_table_with_its_columns(root):
    code, out, _ = evolake(root, "--list", "--json")
    rows = {name: (what, summary) for what, name, summary in json.loads(out)["rows"]}
    assert code == 0 and rows["designs.ranking"] == ("table", "design, score, note, tags, cycle")
    kinds = {
        "designs.candidates__derivations": "table",
        "cookbook/funnel.sql": "file",
        "funnel(line_name)": "macro",
    }
    assert {name: rows[name][0] for name in kinds} == kinds


def test_csv_can_be_read_back(root):
    code, out, _ = evolake(root, "SELECT design, note, tags FROM designs.ranking", "--format", "csv")
    assert (code, list(csv.reader(io.StringIO(out)))) == (
        0,
        [["design", "note", "tags"], [ID, 'a "quoted", text', '["x"]'], ["b", "", "[]"]],
    )


def test_a_table_shows_ids_whole(root):
    code, out, _ = evolake(root, "SELECT design, score, score AS again, note FROM designs.ranking")
    assert code == 0
    assert any(line.split()[:3] == [ID, "Infinity", "Infinity"] for line in out.splitlines())
    assert out.endswith("2 rows\n")


def test_a_question_of_the_cookbook_is_found_from_anywhere(root, tmp_path):
    (tmp_path / "mine.sql").write_text("SELECT artifact_id FROM ancestors($id)")
    wanted = {"verdict": "ok", "columns": ["artifact_id"], "rows": [[ID]]}
    code, out, _ = evolake(root, "--file", "mine.sql", "-p", "id=b", "--json", cwd=tmp_path)
    assert (code, json.loads(out)) == (0, wanted)
    for name in ("cookbook/funnel.sql", "sql/cookbook/funnel.sql", "funnel"):
        code, out, _ = evolake(root, "--file", name, "-p", "line=designs", "--json", cwd=tmp_path)
        assert (code, json.loads(out)["rows"]) == (0, [])


def test_the_list_names_tables_macros_and_questions(root):
    code, out, _ = evolake(root, "--list", "--format", "csv")
    rows = list(csv.reader(io.StringIO(out)))
    assert code == 0
    assert ["table", "designs.ranking", "design, score, note, tags, cycle"] in rows
    macros = {
        "ancestors(id)",
        "ancestry(id)",
        "descendants(id)",
        "funnel(line_name)",
        "relatives(id, down)",
        "state_rank(state)",
    }
    assert {row[1] for row in rows if row[0] == "macro"} == macros
    assert len([row for row in rows if row[0] == "file"]) >= 12


def test_a_schema_tells_names_types_keys_and_meanings(root):
    code, out, err = evolake(root, "--schema", "designs.candidates__derivations", "--format", "json")
    meanings = DERIVATIONS.descriptions
    assert (code, json.loads(out), err) == (
        0,
        {
            "verdict": "ok",
            "columns": ["column", "type", "key", "description"],
            "rows": [
                ["child_id", "VARCHAR", "key", meanings["child_id"]],
                ["parent_id", "VARCHAR", "key", meanings["parent_id"]],
                ["operator", "VARCHAR", "key", meanings["operator"]],
                ["weight", "DOUBLE", "", meanings["weight"]],
                ["cycle", "VARCHAR", "key", meanings["cycle"]],
            ],
        },
        "",
    )


@pytest.mark.parametrize(
    "table, column, described",
    [
        ("designs.experiments", "cpu_s", EXPERIMENTS.note("cpu_s")),
        ("DESIGNS.Experiments", "N", "Variables of an instance; the experiment contract spells it so."),
        ("solvers.smoke", "peak_mb", "Most memory held at any time, in MiB of 1,048,576 bytes."),
        ("guidance.notes", "withdraws", "Note that is taken back; null for a note."),
        (
            "derivations_all",
            "superseded",
            "Whether the row has been replaced by a later run; it is kept, and no longer counts.",
        ),
        ("lineage", "weight", DERIVATIONS.descriptions["weight"]),
        ("parts", "file_sha", "sha256 (hex) of the Parquet file."),
        ("designs.ranking", "design", ""),  # published without a schema
    ],
)
def test_a_schema_is_told_of_what_has_not_run_and_of_views(root, table, column, described):
    code, out, _ = evolake(root, "--schema", table, "--json")
    assert code == 0
    assert {row[0]: row[3] for row in json.loads(out)["rows"]}[column] == described


@pytest.mark.parametrize(
    "words, complaint",
    [
        (
            ["--schema", "designs.candidats"],
            "next: did you mean audits.candidates or designs.candidates or families.candidates",
        ),
        (["--schema", "parts; SELECT 1"], "this is no name of a table"),
        (["--schema", "parts", "SELECT 1"], "wanted: a statement, --file FILE, --schema TABLE or --list"),
        (["SELEC 1"], "syntax error"),
        (["SELECT * FROM rankin"], "did you mean designs.ranking"),
        (["SELECT $id"], "add -p id=VALUE"),
        (["SELECT 1", "-p", "id"], "wanted: NAME=VALUE"),
        (["--file", "nothing.sql"], "cookbook/funnel.sql"),
        (["DROP VIEW artifacts"], "the lake is read-only here"),
        (["FROM read_text('/etc/passwd')"], "SQL cannot reach files here"),
        ([], "nothing to run"),
        (["SELECT 1", "--list"], "or too much"),
        (["SELECT 1", "--format", "xml"], "'xml' is not one of"),
    ],
)
def test_a_mistake_is_named_on_standard_error_with_exit_code_2(root, words, complaint):
    code, out, err = evolake(root, *words)
    assert (code, out) == (2, "")
    assert complaint in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "statement, setting, value, complaint",
    [
        (
            "SELECT count(*) FROM range(10000000) AS a, range(10000000) AS b",
            "SECONDS",
            "0.5",
            "at most 0.5 s",
        ),
        ("SELECT * FROM range(100000000)", "SECONDS", "0.5", "at most 0.5 s"),
        ("SELECT list(range) FROM range(30000000)", "MEMORY_GIB", "0.1", "at most 0.1 GiB"),
        ("SELECT repeat('x', 1000) FROM range(10000000)", "MEMORY_GIB", "0.3", "at most 0.3 GiB"),
    ],
)
def test_a_statement_that_takes_too_much_is_stopped_and_the_setting_is_named(
    root, statement, setting, value, complaint
):
    name = f"EVOLAKE_SQL__{setting}"
    done = commands.evolake(
        "sql", "--lake", str(root), statement, "--format", "csv", environment=dict(os.environ) | {name: value}
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in done.stderr and name in done.stderr


def test_a_damaged_part_is_exit_code_3_and_says_what_to_materialize(tmp_path):
    part = (
        Lake(tmp_path)
        .publish("designs", "ranking", pl.DataFrame({"x": [1]}), cycle="0001", run_id="run")
        .path
    )
    part.write_bytes(part.read_bytes()[:-3])
    code, out, err = evolake(tmp_path, "FROM designs.ranking", "--json")
    summary = json.loads(out)
    assert (code, summary["verdict"], summary["message"]) == (
        3,
        "error",
        err.removeprefix("error: ").rstrip("\n"),
    )
    assert "materialize designs/ranking cycle 0001 again" in err


def test_an_empty_lake_answers_with_a_note(tmp_path):
    code, out, err = evolake(tmp_path / "none", "SELECT * FROM champions", "--json")
    assert (code, json.loads(out)) == (
        0,
        {"verdict": "ok", "columns": ["line", "cycle", "artifact_id", "score"], "rows": []},
    )
    assert "holds no tables yet" in err
    assert not (tmp_path / "none").exists()
