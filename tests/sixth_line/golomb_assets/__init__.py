"""The line's assets: seeds -> incoming* -> candidates -> form -> distances -> survivors."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import dagster as dg
import polars as pl
from golomb.rulers import GATES, GENERATIONS, PASSED, RULERS, mutated, ruler_row, seed_ruler, verdicts
from golomb.settings import GolombSettings

from assets.checks import suite_check
from assets.cycle import Line, open_cycle, read_population, seal_cycle, seal_seeds
from evolake.lake import ARTIFACTS, VERDICTS, TableSchema, side_table
from evolake.seeds import generator
from resources.lake import LakeResource

line = Line("golomb", "Short Golomb rulers.", owners=("team:rulers",), population=GENERATIONS)


@line.seed_asset(schema=RULERS)
def seeds(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """One long ruler."""
    result = RULERS.frame([ruler_row(seed_ruler(lake.settings().of(GolombSettings).marks), "0000")])
    context.add_output_metadata(seal_seeds(context, lake, line, {"rulers": result}).metadata())
    return result


@line.asset(deps=[line.incoming], schema=RULERS)
def candidates(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Children of the shortest rulers there are."""
    opened, settings = open_cycle(context, lake, line), lake.settings()
    parents = (
        read_population(lake, line, opened.cycle)["rulers"].sort("length", "ruler_id").head(3).to_dicts()
    )
    rng = generator(settings.seed, line.name, opened.cycle, "mutation")
    children = {}
    for number in range(settings.of(GolombSettings).rulers_per_cycle):
        parent = parents[number % len(parents)]
        row = ruler_row(mutated(json.loads(parent["marks"]), rng), opened.cycle, parent["ruler_id"])
        children[row["ruler_id"]] = row
    known = {row["ruler_id"] for row in read_population(lake, line, opened.cycle)["rulers"].to_dicts()}
    made = RULERS.frame([row for name, row in children.items() if name not in known])
    side(
        lake,
        "candidates",
        ARTIFACTS,
        artifacts(made, opened.cycle, "candidate", context.run_id),
        opened.cycle,
        context.run_id,
    )
    context.add_output_metadata(opened.metadata())
    return made


def artifacts(rulers: pl.DataFrame, cycle: str, state: str, run_id: str) -> list[dict]:
    """Rows of ARTIFACTS."""
    return [
        {
            "artifact_id": row["ruler_id"],
            "line": line.name,
            "kind": "ruler",
            "cycle": cycle,
            "state": state,
            "content_sha": row["ruler_id"],
            "title": row["marks"],
            "created_at": datetime.now(UTC),
            "run_id": run_id,
            "code_version": "1",
        }
        for row in rulers.to_dicts()
    ]


def side(
    lake: LakeResource, asset: str, schema: TableSchema, rows: list[dict], cycle: str, run_id: str
) -> None:
    """Publishes what an asset adds to a shared table."""
    lake.open().publish(
        line.name, side_table(asset, schema), schema.frame(rows), cycle=cycle, run_id=run_id, schema=schema
    )


def gated(
    context: dg.AssetExecutionContext, lake: LakeResource, rows: pl.DataFrame, gate: str
) -> pl.DataFrame:
    """The rows with the gate's word, which is published as verdicts."""
    judged = {
        row["ruler_id"]: [verdict for verdict in verdicts(row, run_id=context.run_id) if verdict.gate == gate]
        for row in rows.to_dicts()
    }
    side(
        lake,
        gate,
        VERDICTS,
        [item.row() for result in judged.values() for item in result],
        context.partition_key,
        context.run_id,
    )
    blocked = [name for name, result in judged.items() if any(item.outcome == "block" for item in result)]
    stopped = artifacts(
        rows.filter(pl.col("ruler_id").is_in(blocked)), context.partition_key, "blocked", context.run_id
    )
    side(lake, gate, ARTIFACTS, stopped, context.partition_key, context.run_id)
    passed = [bool(result) and all(item.outcome == "pass" for item in result) for result in judged.values()]
    return rows.select(list(RULERS.columns)).with_columns(passed=pl.Series(passed, dtype=pl.Boolean))


@line.asset(schema=PASSED)
def form(context: dg.AssetExecutionContext, lake: LakeResource, candidates: pl.DataFrame) -> pl.DataFrame:
    """Gate 0: the marks ascend from 0."""
    return gated(context, lake, candidates, GATES[0].name)


@line.asset(schema=PASSED)
def distances(context: dg.AssetExecutionContext, lake: LakeResource, form: pl.DataFrame) -> pl.DataFrame:
    """Gate 1: no distance twice."""
    return gated(context, lake, form.filter("passed"), GATES[1].name)


every_survivor_has_two_passes = suite_check(
    distances,
    "every_survivor_has_two_passes",
    "Who goes on has passed both gates.",
    line.cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToNotBeNull(column="passed"),
        gxe.ExpectColumnValuesToBeUnique(column="ruler_id"),
    ],
    "SELECT * FROM golomb.distances WHERE cycle = $cycle AND passed IS NULL",
)


@line.asset(schema=RULERS)
def survivors(context: dg.AssetExecutionContext, lake: LakeResource, distances: pl.DataFrame) -> pl.DataFrame:
    """The rulers that passed; with those before them they enter the next cycle."""
    cycle = context.partition_key
    living = RULERS.frame(distances.filter("passed").select(list(RULERS.columns)).to_dicts())
    before = read_population(lake, line, cycle)["rulers"]
    side(
        lake,
        "survivors",
        ARTIFACTS,
        artifacts(living, cycle, "accepted", context.run_id),
        cycle,
        context.run_id,
    )
    sealed = seal_cycle(
        context,
        lake,
        line,
        cycle,
        {"rulers": pl.concat([before, living])},
        guarded_by=[every_survivor_has_two_passes],
    )
    context.add_output_metadata(sealed.metadata())
    return living
