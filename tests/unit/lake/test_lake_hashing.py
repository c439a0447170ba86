"""The content hash sees what a table says, and nothing of how it is stored."""

import io
from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolake.errors import InputError
from evolake.lake.hashing import content_hash
from evolake.lake.parquet import encode

ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "whole": st.none() | st.integers(-(2**63), 2**63 - 1),
            "real": st.none() | st.floats(),
            "text": st.none() | st.text(max_size=8),
            "flag": st.none() | st.booleans(),
            "raw": st.none() | st.binary(max_size=4),
            "many": st.none() | st.lists(st.none() | st.text(max_size=3), max_size=3),
            "pair": st.none()
            | st.fixed_dictionaries(
                {"a": st.none() | st.integers(0, 9), "b": st.none() | st.text(max_size=2)}
            ),
        }
    ),
    max_size=12,
)
SCHEMA = {
    "whole": pl.Int64,
    "real": pl.Float64,
    "text": pl.String,
    "flag": pl.Boolean,
    "raw": pl.Binary,
    "many": pl.List(pl.String),
    "pair": pl.Struct({"a": pl.Int64, "b": pl.String}),
}


def table(rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=SCHEMA)


@settings(max_examples=60, deadline=None)
@given(rows=ROWS, cut=st.integers(0, 12))
def test_chunking_column_order_and_storage_do_not_count(rows, cut):
    frame = table(rows)
    chunked = pl.concat([table(rows[:cut]), table(rows[cut:])], rechunk=False)
    stored = pl.read_parquet(io.BytesIO(encode(frame)))
    sliced = table([*rows[:1], *rows, *rows[:1]]).slice(len(rows[:1]), len(rows))
    hashes = {
        content_hash(each) for each in (frame, chunked, stored, sliced, frame.select(reversed(frame.columns)))
    }
    assert hashes == {content_hash(frame)}
    assert encode(chunked) == encode(frame)


@settings(max_examples=60, deadline=None)
@given(rows=ROWS, others=ROWS)
def test_hashes_are_equal_exactly_where_frames_are(rows, others):
    assert (content_hash(table(rows)) == content_hash(table(others))) == (_bits(rows) == _bits(others))


def _bits(rows):
    """Rows as comparable values: every NaN is one value, and minus zero is not zero."""

    def bits(value):
        return "nan" if value != value else np.float64(value).tobytes()

    return [
        {key: bits(value) if isinstance(value, float) else value for key, value in row.items()}
        for row in rows
    ]


@pytest.mark.parametrize(
    "other",
    [
        pl.DataFrame({"a": [1, 2]}, schema={"a": pl.Int32}),
        pl.DataFrame({"b": [1, 2]}),
        pl.DataFrame({"a": [2, 1]}),
        pl.DataFrame({"a": [1, 2, None]}),
        pl.DataFrame({"a": [1, 2], "b": [None, None]}),
    ],
)
def test_type_name_order_length_and_columns_count(other):
    assert content_hash(other) != content_hash(pl.DataFrame({"a": [1, 2]}))


def test_strings_cannot_shift_between_rows():
    assert content_hash(pl.DataFrame({"a": ["ab", "c"]})) != content_hash(pl.DataFrame({"a": ["a", "bc"]}))
    assert content_hash(pl.DataFrame({"a": [["x"], ["y", "z"]]})) != content_hash(
        pl.DataFrame({"a": [["x", "y"], ["z"]]})
    )
    assert content_hash(pl.DataFrame({"a": [None, []]}, schema={"a": pl.List(pl.Int8)})) != content_hash(
        pl.DataFrame({"a": [[], None]}, schema={"a": pl.List(pl.Int8)})
    )


def test_every_other_type_has_a_hash_that_survives_storage():
    frame = pl.DataFrame(
        {
            "time": [datetime(2026, 1, 1, tzinfo=UTC), None],
            "exact": [Decimal("1.50"), None],
            "kind": pl.Series(["x", None], dtype=pl.Enum(["x", "y"])),
            "fixed": pl.Series([[1, 2], None], dtype=pl.Array(pl.Int16, 2)),
            "half": pl.Series([1.5, None], dtype=pl.Float32),
            "deep": [[{"a": [1]}], None],
        }
    )
    assert content_hash(pl.read_parquet(io.BytesIO(encode(frame)))) == content_hash(frame)


def test_the_hash_is_fixed_for_good():
    """A changed hash would make every partition stale: this value may only change with a note in the
    changelog."""
    frame = pl.DataFrame({"design": ["a", None], "score": [1.0, float("nan")], "n": [10, 20]})
    assert content_hash(frame) == "1651e0b07c6e634c66bf946cf66dab40d1e188b857720b9ba873a0205a539af5"


def test_columns_that_say_who_wrote_a_row_can_be_left_out():
    assert content_hash(pl.DataFrame({"a": [1], "run": ["x"]}), ignore=("run",)) == content_hash(
        pl.DataFrame({"a": [1]})
    )


def test_objects_are_refused_by_column():
    frame = pl.DataFrame({"thing": pl.Series([object()], dtype=pl.Object)})
    with pytest.raises(InputError, match="column 'thing' cannot be kept in the lake"):
        content_hash(frame)
