"""Tables are typed once, and a frame that does not fit is refused by column."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import polars as pl
import pytest

from evolake.errors import InputError
from evolake.lake import ARTIFACTS, DERIVATIONS, SHARED, TableSchema, read_tables
from evolake.lake.vocabulary import VOCABULARY

PAIRS = TableSchema(
    "pairs", 3, {"key": (pl.String, "Which pair."), "value": (pl.Int64, "Its worth in cents.")}, keys=("key",)
)


def test_the_shared_tables_have_the_columns_of_the_design():
    assert {name: " ".join(schema.columns) for name, schema in SHARED.items()} == {
        "artifacts": "artifact_id line kind cycle state content_sha title created_at run_id code_version",
        "derivations": "child_id parent_id operator weight cycle",
        "verdicts": (
            "artifact_id cycle gate_no gate rule_id rule_version ruleset_hash outcome reason evidence_sha "
            "run_id"
        ),
        "agent_calls": (
            "call_id artifact_id cycle role backend model prompt_sha response_sha input_tokens "
            "cached_tokens output_tokens usd latency_s attempt status prompt_id sampling reason"
        ),
        "session_turns": (
            "session_id turn cycle artifact_id role model call_id status tools faults fault outcome "
            "reason tree_sha tools_s record_sha"
        ),
        "evaluations": "artifact_id suite instance seed status cpu_s wall_s peak_mb counters certificate host",  # noqa: E501
        "champions": "line cycle artifact_id score",
        "contest_seeds": "line cycle root_seed",
        "rules": "rule_id version text_sha since_cycle kind",
    }


@pytest.mark.parametrize(
    "frame, message",
    [
        (pl.DataFrame({"key": ["a"]}), "column 'value' is missing"),
        (
            pl.DataFrame({"key": ["a"], "value": ["1"]}),
            "column 'value' has the wrong type\n  wanted: Int64\n  got: String",
        ),
        (pl.DataFrame({"key": ["a"], "value": [1], "more": [1]}), "column 'more' is not in its schema"),
    ],
)
def test_a_frame_that_does_not_fit_is_refused_by_column(frame, message):
    with pytest.raises(InputError) as error:
        PAIRS.validate(frame)
    assert f"table pairs: {message}" in str(error.value)


def test_rows_become_a_typed_frame():
    when = datetime(2026, 1, 2, tzinfo=UTC)
    frame = ARTIFACTS.frame([{"artifact_id": "x", "created_at": when}])
    assert dict(frame.schema) == dict(ARTIFACTS.columns)
    assert frame.select("artifact_id", "created_at", "title").to_dicts() == [
        {"artifact_id": "x", "created_at": when, "title": None}
    ]
    assert dict(DERIVATIONS.frame([]).schema) == dict(DERIVATIONS.columns)


@pytest.mark.parametrize(
    "row, message",
    [
        ({"value": "ten"}, "a value of column 'value' does not fit"),
        ({"kee": 1}, "column 'kee' is not in its schema"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_by_column(row, message):
    with pytest.raises(InputError) as error:
        PAIRS.frame([{"key": "a"}, row])
    assert message in str(error.value)


def test_a_schema_whose_keys_are_no_columns_is_a_mistake():
    with pytest.raises(ValueError, match="no such column: id"):
        TableSchema("t", 1, {"a": (pl.Int64, "Some number.")}, keys=("id",))


DECLARATIONS = """
[terms]
cycle = "The line's own sense of it."
wall_s = "Seconds on the wall."

[runs]
version = 2
keys = ["cycle", "number"]
provenance = ["wall_s"]
assets = ["smoke", "later_runs"]
columns = '''
cycle: String | This table's.
number: Int64 | Place: 0 | 1 | ...
wall_s: Float64
cpu_s: Float64
parts: List(Float64) | Its parts.
at: Instant | When it was made.
'''

[passed]
columns = '''
gate: String
*: runs
passed: Boolean
'''
"""


def test_a_file_declares_tables(tmp_path):
    path = tmp_path / "tables.toml"
    path.write_text(DECLARATIONS)
    declared = read_tables(path)
    runs, passed = declared["runs"], declared["passed"]
    columns = {
        "cycle": (pl.String, "This table's."),
        "number": (pl.Int64, "Place: 0 | 1 | ..."),
        "wall_s": (pl.Float64, "Seconds on the wall."),
        "cpu_s": (pl.Float64, VOCABULARY["cpu_s"]),
        "parts": (pl.List(pl.Float64), "Its parts."),
        "at": (pl.Datetime("us", "UTC"), "When it was made."),
    }
    assert runs == TableSchema("runs", 2, columns, ("cycle", "number"), ("wall_s",))
    assert runs.described == columns
    assert list(passed.described.items()) == [
        ("gate", (pl.String, VOCABULARY["gate"])),
        *columns.items(),
        ("passed", (pl.Boolean, VOCABULARY["passed"])),
    ]
    assert (passed.version, passed.keys, passed.provenance) == (1, runs.keys, runs.provenance)
    assert declared.assets == {"smoke": runs, "later_runs": runs, "passed": passed}


@pytest.mark.parametrize(
    "before, after, message",
    [
        ("wall_s: Float64", "wall_s: Float65", "schema runs: wall_s has no type Float65, but one of"),
        ("version", "edition", "schema runs: wrong edition: an entry has version, keys, "),
        ("version = 2", 'version = "2"', "schema runs: wrong version"),
        ("[terms]", "walks = 2\n[terms]", "walks = 2 is no table"),
        ("cpu_s: Float64", "cycle: Float64", "schema runs: cycle occurs twice"),
        ("gate: String", "cpu_s: Float64", "schema passed: cpu_s occurs twice"),
        ("number: Int64 | Place: 0 | 1 | ...", "number: Int64", "schema runs: say what number means"),
        ("cpu_s: Float64", "cpu_s Float64", "schema runs: a column is `name: type | description`, not"),
        ("*: runs", "*: walks", "schema passed: no table walks above it"),
        ('keys = ["cycle", "number"]', "", "schema runs: it needs keys and columns"),
        ('["cycle", "number"]', '["cycle", "numbers"]', "schema runs: no such column: numbers"),
        ('"later_runs"', '"passed"', "schema passed: passed publishes runs already"),
        ("[passed]", "[runs]", "('runs',) twice (at line "),
    ],
)
def test_a_wrong_declaration_is_refused_by_file_and_table(tmp_path, before, after, message):
    path = tmp_path / "tables.toml"
    assert before in DECLARATIONS
    path.write_text(DECLARATIONS.replace(before, after, 1))
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        read_tables(path)
    assert str(error.value).startswith(f"{path}: ")


@pytest.mark.parametrize("column", [pl.Int64, (pl.Int64, "")])
def test_a_column_without_a_description_is_a_mistake(column):
    with pytest.raises(ValueError, match=r"schema t: say what odd means: a column is \(type, description\)"):
        TableSchema("t", 1, {"cycle": pl.String, "odd": column}, keys=())


def test_a_reader_is_told_which_columns_are_no_content():
    schema = TableSchema(
        "t", 1, {"cycle": pl.String, "wall_s": (pl.Float64, "In seconds.")}, keys=(), provenance=("wall_s",)
    )
    assert schema.note("wall_s") == "In seconds. Not content: it may differ when the same work is done again."
    assert schema.note("cycle") == schema.descriptions["cycle"]


def test_a_column_of_hashes_says_whether_they_name_blobs():
    from evolake.cli.sql import all_tables

    texts = {
        (name, column): text
        for name, schema in [*all_tables().items(), *SHARED.items()]
        for column, text in schema.descriptions.items()
    }
    hashes = {place: text for place, text in texts.items() if place[1].endswith("_sha")}
    assert len(hashes) > 50
    assert {
        place: text for place, text in hashes.items() if not text.startswith(("Blob with ", "sha256 (hex) "))
    } == {}
    assert all_tables()["families", "validator_authors"].blobs == frozenset()
    assert all_tables()["families", "candidates"].blobs == {"record_sha"}
