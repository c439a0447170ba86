"""A predicate in SQL and the expectations that are made of it say the same of every row, nulls included."""

from itertools import product

import duckdb
import polars as pl
import pytest

from assets.checks import judge, suites_of
from assets.expectations import Wanted, operands, read, read_all
from pipelines.lines import built_lines, built_studies

NUMBERS, FLAGS, WORDS = (None, 0, 1, 2), (None, True, False), (None, "", "a", "b")
FORMS = {
    "a IS NOT NULL": {"a": NUMBERS},
    "a IS NULL": {"a": NUMBERS},
    "a BETWEEN 1 AND 2": {"a": NUMBERS},
    "a IS NULL OR a BETWEEN 1 AND 1": {"a": NUMBERS},
    "a > 1": {"a": NUMBERS},
    "a <= 1": {"a": NUMBERS},
    "a IN (1, 2)": {"a": NUMBERS},
    "w IN ('a', 'it''s')": {"w": WORDS},
    "w NOT IN ('a', '')": {"w": WORDS},
    "w <> 'a'": {"w": WORDS},
    "w = 'a'": {"w": WORDS},
    "w IS DISTINCT FROM 'a'": {"w": WORDS},
    "f": {"f": FLAGS},
    "a <= b": {"a": NUMBERS, "b": NUMBERS},
    "2 * a > b": {"a": NUMBERS, "b": NUMBERS},
    "a BETWEEN b - 1 AND b + 1": {"a": NUMBERS, "b": NUMBERS},
    "w = v": {"w": WORDS, "v": WORDS},
    "f = (w = 'a')": {"f": FLAGS, "w": WORDS},
    "NOT f OR a >= 1": {"f": FLAGS, "a": NUMBERS},
    "f OR (a >= 1 AND w = 'a')": {"f": FLAGS, "a": (None, 1), "w": (None, "a", "b")},
    "f IS NOT TRUE OR w <> ''": {"f": FLAGS, "w": WORDS},
    "w <> 'a' OR a = 1": {"w": WORDS, "a": NUMBERS},
    "w = 'a' OR a = 1": {"w": WORDS, "a": NUMBERS},
    "NOT f OR b IS NULL OR a > b": {"f": FLAGS, "b": (None, 1), "a": (None, 2)},
}
TYPES = {"a": pl.Int64, "b": pl.Int64, "w": pl.String, "v": pl.String, "f": pl.Boolean}


def expected(frame: pl.DataFrame, predicate: str) -> list[bool]:
    rows = frame.to_arrow()  # noqa: F841  DuckDB finds it by name
    return [bool(row[0]) for row in duckdb.sql(f"SELECT ({predicate}) IS TRUE FROM rows").fetchall()]


def found(frame: pl.DataFrame, predicate: str) -> bool:
    wanted, rows = read(predicate), frame.to_arrow()  # noqa: F841
    columns = ", ".join(f'{text} AS "{name}"' for name, text in operands(wanted).items())
    judged = pl.DataFrame(duckdb.sql(f"SELECT {columns} FROM rows").to_arrow_table())
    return judge(judged, "suite", lambda gxe: [item.make(gxe) for item in wanted]).passed


@pytest.mark.parametrize("predicate", FORMS)
def test_great_expectations_and_sql_agree_on_every_row(predicate):
    values = FORMS[predicate]
    frame = pl.DataFrame(
        [dict(zip(values, row, strict=True)) for row in product(*values.values())],
        schema={name: TYPES[name] for name in values},
    )
    right = expected(frame, predicate)
    assert len(set(right)) == 2
    alone = [frame[number] for number in range(frame.height)]
    assert [found(row, predicate) for row in alone] == right
    good = frame.filter(pl.Series(right))
    assert found(good, predicate) and not found(frame, predicate)


@pytest.mark.parametrize(
    ("rows", "passed"),
    [
        ([(1, "a"), (1, "b")], True),
        ([(1, "a"), (1, "a")], False),
        ([(None, None)] * 2, False),
        ([(None, "a")], True),
    ],
)
def test_rows_are_told_apart_by_several_columns(rows, passed):
    frame = pl.DataFrame(rows, schema={"a": pl.Int64, "w": pl.String}, orient="row")
    predicate = "count(*) OVER (PARTITION BY a, lower(w)) = 1"
    assert found(frame, predicate) is passed and all(expected(frame, predicate)) is passed


@pytest.mark.parametrize("predicate", ["a + 1 > 2 OR a > 1", "a LIKE 'x' OR b = 1", "NOT (a = 1) OR b = 1"])
def test_a_condition_that_chooses_no_rows_is_refused(predicate):
    with pytest.raises(ValueError, match="rows cannot be chosen by"):
        read(predicate)


def test_what_two_predicates_expect_is_expected_once():
    assert read_all(["a > 1", "a < 5"])[0] == Wanted(
        "ExpectColumnValuesToNotBeNull", {"column": "a"}, (), "a > 1"
    )
    assert [item.kind for item in read_all(["a > 1", "a < 5"])].count("ExpectColumnValuesToNotBeNull") == 1


def test_every_predicate_of_every_line_is_an_expectation():
    suites = [suite for built in (*built_lines(), *built_studies()) for suite in suites_of(built.checks)]
    assert len(suites) > 40
    assert all(read_all(suite.predicates) for suite in suites if suite.predicates)
    assert sorted(suite.name for suite in suites if not suite.predicates) == [
        "every_class_is_caught",
        "ratings_follow_from_ranks",
        "updates_have_checkpoints",
    ]
