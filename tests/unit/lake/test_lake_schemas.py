"""Tables are typed once, and a frame that does not fit is refused by column."""

from datetime import UTC, datetime

import polars as pl
import pytest

from evolake.errors import InputError
from evolake.lake import ARTIFACTS, DERIVATIONS, SHARED, TableSchema, read_tables
from evolake.lake.vocabulary import VOCABULARY

PAIRS = TableSchema(
    "pairs", 3, {"key": (pl.String, "Which pair."), "value": (pl.Int64, "Its worth in cents.")}, keys=("key",)
)


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


def test_the_shared_tables_have_the_columns_of_the_design():
    assert {name: " ".join(schema.columns) for name, schema in SHARED.items()} == {
        "artifacts": "artifact_id line kind cycle state content_sha title created_at run_id code_version",
        "derivations": "child_id parent_id operator weight cycle",
        "verdicts": (
            "artifact_id cycle gate_no gate rule_id rule_version ruleset_hash outcome reason evidence_sha "
            "run_id judged_at"
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
        "checks": "asset check_name cycle passed blocking judged_sha reason run_id checked_at",
        "rules": "rule_id version text_sha since_cycle kind",
    }


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
