"""What `add`, `updated` and the state mean is the same in the population of every line."""

from __future__ import annotations

import importlib
from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest

from evolake.errors import InputError
from evolake.lake.population import Tables

WHERE = {"designs": "evolution", "families": "model", "prompts": "evolution", "solvers": "evolution"}
POPULATIONS: dict[str, type[Tables]] = {
    line: importlib.import_module(f"evolake.{line}.{room}.population").Population
    for line, room in WHERE.items()
}
TABLES = [(line, table) for line, population in POPULATIONS.items() for table in population.schemas]
VALUES: dict[Any, tuple[Any, Any]] = {
    pl.String: ("one", "two"),
    pl.Int64: (1, 2),
    pl.Float64: (0.5, 1.5),
    pl.Boolean: (True, False),
    pl.List(pl.String): (["one"], ["two"]),
    pl.Datetime("us", "UTC"): (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)),
}


def row(population: type[Tables], table: str, *, key: int, rest: int) -> dict[str, Any]:
    """A row whose keys have the value number `key` (0 or 1) of their type and whose other columns have the
    value number `rest`."""
    schema = population.schemas[table]
    values = {
        name: VALUES[kind][key if name in schema.keys else rest] for name, kind in schema.columns.items()
    }
    return values | {
        name: False for name in values if name == "timed_out"
    }  # a run that a clock cut is no row of an archive


@pytest.mark.parametrize(("line", "table"), TABLES)
def test_add_leaves_a_row_that_is_there_as_it_is_and_updated_puts_the_new_one_in_its_place(
    line: str, table: str
):
    population = POPULATIONS[line]
    first, other, again = (
        row(population, table, key=key, rest=rest) for key, rest in ((0, 0), (1, 0), (0, 1))
    )
    before = population.empty().add(**{table: [first, other]})
    assert before.frames()[table].to_dicts() == [first, other]
    assert before.add(**{table: [again]}).frames()[table].to_dicts() == [first, other]
    assert before.updated(**{table: [again]}).frames()[table].to_dicts() == [again, other]
    assert population.empty().add(**{table: [first, again]}).frames()[table].to_dicts() == [first]
    assert population.empty().updated(**{table: [first, again]}).frames()[table].to_dicts() == [again]
    assert before.with_tables(**{table: [again]}).frames()[table].to_dicts() == [again]
    assert before.frames()[table].to_dicts() == [first, other]


@pytest.mark.parametrize("line", POPULATIONS)
def test_the_state_keeps_its_other_entries_in_the_order_of_their_names(line: str):
    result = (
        POPULATIONS[line]
        .empty()
        .with_values(zeta={"b": [1, None]})
        .with_values(alpha="é")
        .with_values(zeta=3)
    )
    assert (result.value("zeta"), result.value("alpha"), result.value("none"), result.value("none", 7)) == (
        3,
        "é",
        None,
        7,
    )
    assert result.frames()["state"]["name"].to_list() == ["alpha", "zeta"]


@pytest.mark.parametrize("line", POPULATIONS)
def test_a_population_comes_back_from_its_tables_and_refuses_others(line: str):
    population = POPULATIONS[line]
    result = population.empty().with_values(number=1)
    assert all(
        frame.equals(population.of(result.frames()).frames()[name]) for name, frame in result.frames().items()
    )
    with pytest.raises(InputError, match="column 'value' is missing"):
        population.of(result.frames() | {"state": result.frames()["state"].drop("value")})
