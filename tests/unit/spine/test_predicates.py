"""Every predicate of the lines' row checks is broken by a planted row, and the SQL that a failed check shows
finds exactly the planted rows."""

from __future__ import annotations

import importlib
import importlib.util
import json
import runpy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

from assets import predicates
from assets.checks import Judgement, judge
from assets.line import Line
from evolake.lake import Catalogue, Lake, TableSchema
from pipelines.lines import built_lines
from resources.tables import schema_of

Row = dict[str, Any]
COLUMNS = {
    "toys": {"toy_id": pl.String, "cycle": pl.String, "size": pl.Int64, "state": pl.String},
    "scored": {"objective_id": pl.String, "toy_id": pl.String, "cycle": pl.String, "score": pl.Float64},
    "ranked": {"toy_id": pl.String, "cycle": pl.String, "rank": pl.Int64, "consensus": pl.Float64},
}
TOY, SCORED, RANKED = (
    TableSchema(name, 1, {column: (kind, "of a toy") for column, kind in columns.items()}, keys=("toy_id",))
    for name, columns in COLUMNS.items()
)
line = Line("toyshop", "Toys.")
LINES = {built.line.name: built for built in built_lines()}


@line.asset(schema=TOY)
def toys() -> pl.DataFrame: ...


@line.asset(schema=SCORED)
def scored() -> pl.DataFrame: ...


@line.asset(schema=RANKED)
def ranked() -> pl.DataFrame: ...


@dataclass(frozen=True)
class Suite:
    """What a check is made of, as `suite_check` gets it."""

    asset: dg.AssetsDefinition
    name: str
    expectations: Any
    sql: str
    prepare: Any
    predicates: tuple[str, ...] = ()

    def on(self, lake: Lake) -> tuple[Judgement, list[Row]]:
        """(what the suite says of cycle 0001, the offenders that its SQL finds)."""
        judged = judge(
            self.prepare(lake.read(*self.asset.key.path, "0001"), lake, "0001"), self.name, self.expectations
        )
        with Catalogue(lake) as catalogue:
            return judged, catalogue.frame(
                self.sql, {"cycle": "0001"} if "$cycle" in self.sql else {}
            ).to_dicts()


def module_of_checks(line: str) -> str:
    """Return where the checks of a line are: in a module of their own, or next to what closes its cycle."""
    own = f"assets.{line}.checks"
    return own if importlib.util.find_spec(own) else f"assets.{line}.close"


@pytest.fixture
def suites(monkeypatch) -> list[Suite]:
    """The checks that are defined while the test runs."""
    result: list[Suite] = []

    def noted(
        asset, name, description, partitions_def, expectations, sql, *, prepare, blocking=True, predicates=()
    ):
        assert partitions_def == asset.partitions_def
        result.append(Suite(asset, name, expectations, sql, prepare, predicates))

    monkeypatch.setattr(predicates, "suite_check", noted)
    return result


def put(
    lake: Lake, table: str, schema: TableSchema, rows: Sequence[Mapping[str, Any]], of: str = "toyshop"
) -> None:
    lake.publish(of, table, schema.frame(rows), cycle="0001", run_id="r", schema=schema)


def toy(name: str, **more: object) -> Row:
    return {"toy_id": name, "cycle": "0001", "size": 1, "state": "accepted"} | more


PLANTED: dict[str, tuple[Row, list[Row]]] = json.loads(
    Path(__file__).with_name("planted_rows.json").read_text()
)
"""line.asset.check -> (a sound row, what is wrong with each planted one). A row that is there twice is
planted where the check asks for it."""
OWN_TEXT = {"families": "text_sha", "prompts": "text"}
WHOLE = "count(DISTINCT split) OVER () = 2"


@pytest.mark.parametrize("case", PLANTED)
def test_a_planted_row_breaks_each_predicate_of_the_lines_checks(tmp_path, suites, case):
    name, asset, check = case.split(".")
    runpy.run_module(module_of_checks(name))  # a copy of the module, whose checks go into `suites`
    [suite, *_] = [item for item in suites if (item.asset.key.path, item.name) == ([name, asset], check)]
    schema, (sound, faults) = schema_of(suite.asset), PLANTED[case]
    assert schema is not None
    key, text = next(iter(sound)), OWN_TEXT.get(name)
    rows = [
        sound,
        *(
            {key: f"fault {number}"} | sound | {key: f"fault {number}"} | fault
            for number, fault in enumerate(faults)
        ),
    ]
    doubled = "PARTITION BY" in suite.sql
    rows = [*rows, *[sound | {key: "double"}] * 2] if doubled else rows
    rows = [
        row | {"cycle": "0001"} | ({text: f"{number}"} if text in sound else {})
        for number, row in enumerate(rows)
    ]
    if doubled and text in sound:
        rows[-1][text] = rows[-2][text]
    lake = Lake(tmp_path)
    put(lake, asset, schema, rows, of=name)
    judged, offenders = suite.on(lake)
    heldout = [reason for reason in judged.broken if WHOLE in reason]
    if heldout:  # every row offends where one of the two splits is lacking
        assert len(offenders) == len(rows)
    else:
        assert len(offenders) == len(rows) - 1
    assert {reason.partition(": expect_")[0] for reason in judged.broken} == set(suite.predicates)


@pytest.mark.parametrize("name", LINES)
def test_a_line_is_guarded_by_each_of_its_blocking_checks_of_a_cycle(name):
    guards = importlib.import_module(module_of_checks(name)).GUARDS
    blocking = {
        key
        for check in LINES[name].checks
        for key in check.check_keys
        if check.get_spec_for_check_key(key).blocking
    }
    unpartitioned = {
        key for key in blocking if key.asset_key == dg.AssetKey(["families", "fault_kill_rates"])
    }
    assert {key for check in guards for key in check.check_keys} == blocking - unpartitioned
