"""Checks whose predicates are written once, in SQL: Great Expectations expects what each says of the rows
(`assets.expectations`), and the rows where one does not hold are what the failed check shows.

    rows_check(metrics, "metrics_add_up", "Solved is at most all.", once("variant_id"), "solved <= instances")

A predicate must be true: null is an offence. The factories below are the checks that lines have in common.

`raised_check` never blocks. What judging raises on one candidate is that candidate's block
(evolake.gates.boundary), also where a mistake of ours raised it: the check looks at the blocks of a whole
cycle and warns where they look like one mistake; metadata name the place, how many met it, what to do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg
import polars as pl

from assets.checks import define, markdown_table, suite_check, with_cycle
from assets.expectations import operands, read_all
from assets.shown import markdown
from evolake.lake import DERIVATIONS, VERDICTS, Lake, TableSchema, side_table
from evolake.lake.schemas import once
from resources.lake import LakeResource
from resources.tables import schema_of

NAME = "judging_did_not_raise"
SHORT_ID = 12
DO = (
    "If the place is in evolake's code, report it with the message, the cycle and the version: the "
    "candidates are not to blame. Nothing is lost, for replies are in the call cache: once it is fixed, "
    "materialize the whole group for this cycle again, and the cached replies are judged. If the "
    "candidates are strange and alike, all of one model, say, there is nothing to do: they are blocked."
)


@dataclass(frozen=True)
class Reasons:
    """A table of the line in which a failure is shown. candidate: SQL that names it. reason: the column, null
    if nothing failed."""

    asset: str
    schema: TableSchema
    candidate: str
    reason: str = "reason"


def raised_check(
    asset: dg.AssetsDefinition,
    line: str,
    partitions_def: dg.PartitionsDefinition,
    *,
    judged: Sequence[str] = (),
    reasons: Sequence[Reasons] = (),
) -> dg.AssetChecksDefinition:
    """Return a check of `asset` that warns where what judging raised looks like a fault of ours; see
    `evolake.gates.boundary.suspicion`.

    Args:
        asset: the last one that judges, so that the rows of all others are there.
        judged: assets that publish verdicts. reasons: tables that report failures in addition to verdicts.
            All candidates named in any of them count.

    Metadata: candidates, raised, share; where it warns also `places` (a markdown table), `do` and `sql`,
        ready to paste.
    """
    sql, schemas = reasons_sql(line, judged, reasons), {(line, item.asset): item.schema for item in reasons}

    def check(context: dg.AssetCheckExecutionContext, lake: LakeResource) -> dg.AssetCheckResult:
        from evolake.lake import Catalogue

        with Catalogue(lake.open(), extra_schemas=schemas) as catalogue:
            rows = catalogue.frame(sql, {"cycle": context.partition_key}).to_dicts()
        return warning(rows, with_cycle(sql, context.partition_key))

    return define(
        check,
        asset,
        NAME,
        "No place of our own code raised on several candidates, or on many of them.",
        partitions_def,
        blocking=False,
    )


def reasons_sql(line: str, judged: Sequence[str], summary: Sequence[Reasons]) -> str:
    """Return one row per candidate and rule or failure of `$cycle`: candidate, gate, reason (null or empty if
    nothing was wrong)."""
    tables = ", ".join(f"'{side_table(name, VERDICTS)}'" for name in judged)
    parts = (
        [
            f"SELECT artifact_id AS candidate, gate, reason FROM verdicts_all\n"
            f"WHERE NOT superseded AND origin_line = '{line}' AND origin_asset IN ({tables}) AND cycle = "
            "$cycle"
        ]
        if judged
        else []
    )
    parts += [
        f"SELECT CAST({item.candidate} AS VARCHAR) AS candidate, '{item.asset}' AS gate, {item.reason} AS "
        f"reason FROM {line}.{item.asset}\n"
        f"WHERE cycle = $cycle"
        for item in summary
    ]
    return "\nUNION ALL\n".join(parts)


def warning(rows: Iterable[Mapping[str, Any]], sql: str) -> dg.AssetCheckResult:
    """Return the check's result. rows: candidate, gate, reason, as `sql` found them."""
    from evolake.gates.boundary import OPENING, Judged, find_faults, suspicion

    faults = find_faults(Judged(**row) for row in rows)
    why = suspicion(faults)
    metadata: dict[str, Any] = {
        "candidates": faults.candidates,
        "raised": faults.raised,
        "share": faults.share,
    }
    if why:
        table = pl.DataFrame(
            [
                {
                    "place": place.raised.place,
                    "error": place.raised.error,
                    "candidates": len(place.candidates),
                    "gates": ", ".join(place.gates),
                    "message": place.raised.message,
                    "such as": place.candidates[0][:SHORT_ID],
                }
                for place in faults.places
            ]
        )
        metadata |= {
            "places": markdown(markdown_table(table)),
            "do": DO,
            "sql": markdown(f"```sql\nSELECT * FROM (\n{sql}\n) WHERE starts_with(reason, '{OPENING}')\n```"),
        }
    return dg.AssetCheckResult(
        passed=not why, severity=dg.AssetCheckSeverity.WARN, metadata=metadata, description=why or None
    )


TOLERANCE = 1e-9


def rows_check(
    asset: dg.AssetsDefinition,
    name: str,
    description: str,
    *predicates: str,
    rows: str | None = None,
    blocking: bool = True,
) -> dg.AssetChecksDefinition:
    """Return a check that `predicates` hold in every row; without any, those of the asset's table
    (`TableSchema.rows`).

    Args:
        rows: a query for other rows than those of the asset (a join with a side table, a count); `$cycle` is
            the cycle that is checked.
        blocking: False for a check of the asset that seals: it is judged when the cycle is sealed already.
    """
    schema = schema_of(asset)
    predicates = predicates or (schema.rows if schema else ())
    if not predicates:
        raise ValueError(f"the check {name} expects nothing: neither it nor its table has a predicate")
    selected = (
        rows.strip()
        if rows
        else f"SELECT * FROM {table_of(asset)}" + (" WHERE cycle = $cycle" if asset.partitions_def else "")
    )

    def judged(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
        import duckdb

        from evolake.lake import Catalogue

        wanted = operands(read_all(predicates)).items()
        columns = ", ".join(f"{text} AS {_quoted(name)}" for name, text in wanted)
        if not rows:  # the asset's own: a catalogue of the whole lake would cost ten times as much
            with duckdb.connect() as connection:
                connection.register("own", frame.to_arrow())  # pyright: ignore[reportUnknownArgumentType]
                return pl.DataFrame(connection.sql(f"SELECT {columns} FROM own").to_arrow_table())
        with Catalogue(lake) as catalogue:
            return catalogue.frame(
                f"SELECT {columns} FROM ({selected})", {"cycle": cycle} if "$cycle" in selected else {}
            )

    return suite_check(
        asset,
        name,
        description,
        asset.partitions_def,
        lambda gxe: [wanted.make(gxe) for wanted in read_all(predicates)],
        offenders_sql(selected, predicates, "*" if rows else _offender_columns(asset, predicates)),
        prepare=judged,
        blocking=blocking,
        predicates=predicates,
    )


@dataclass(frozen=True)
class DecidingVerdicts:
    """Conditions, in SQL, on the verdicts v that decide on a row r.

    about: which verdicts are about the row. counts: which of them may count as a pass; objects: as an
    objection.
    """

    about: str = "v.cycle = r.cycle"
    counts: str = "true"
    objects: str = "true"


OF_THE_CYCLE = DecidingVerdicts()


def passed_every_gate(
    asset: dg.AssetsDefinition,
    name: str,
    description: str,
    key: str,
    gates: int,
    *,
    where: str = "true",
    table: str | None = None,
    verdicts: DecidingVerdicts = OF_THE_CYCLE,
) -> dg.AssetChecksDefinition:
    """Return a check that each artifact has a pass of `gates` gates and no objection.

    Args:
        key: the column that names the artifact. where: which rows of the asset (or of `table`) are asked
            about.
    """
    rows = f"""
SELECT r.{key}, count(DISTINCT v.gate) FILTER (v.outcome = 'pass' AND {verdicts.counts}) AS passes,
  count(*) FILTER (v.outcome <> 'pass' AND {verdicts.objects}) AS objections
FROM (SELECT DISTINCT {key}, cycle FROM {table or table_of(asset)} WHERE cycle = $cycle AND {where}) AS r
LEFT JOIN {VERDICTS.name} AS v ON v.artifact_id = r.{key} AND {verdicts.about} GROUP BY ALL"""
    return rows_check(asset, name, description, f"passes = {gates}", "objections = 0", rows=rows)


def weights_sum_to_one(
    asset: dg.AssetsDefinition,
    name: str,
    description: str,
    key: str,
    *,
    orphans_allowed: bool,
    born_orphans: str = "FALSE",
) -> dg.AssetChecksDefinition:
    """Return a check that the shares of an artifact's parents sum to 1. orphans_allowed: whether an artifact
    may have no parents.

    born_orphans: where not every one may, a condition on the rows `c` of those that may.
    """
    side = f"{asset.key.path[0]}.{side_table(asset.key.path[-1], DERIVATIONS)}"
    rows = f"""
SELECT c.{key}, sum(d.weight) AS total, min(d.weight) AS smallest
FROM {table_of(asset)} AS c {"" if orphans_allowed else "LEFT "}JOIN {side} AS d ON d.child_id = c.{key}
  AND d.cycle = c.cycle
WHERE c.cycle = $cycle AND NOT (d.child_id IS NULL AND {born_orphans}) GROUP BY ALL"""
    return rows_check(asset, name, description, f"abs(total - 1) <= {TOLERANCE}", "smallest >= 0", rows=rows)


def every_objective_scored(asset: dg.AssetsDefinition, noun: str) -> dg.AssetChecksDefinition:
    """Return a check that there is one row for every pair of an objective and a design, variant, ...
    (`noun`)."""
    key, scores = f"{noun}_id", f"(SELECT * FROM {table_of(asset)} WHERE cycle = $cycle)"
    rows = f"""
SELECT o.objective_id, a.{key}, count(s.cycle) AS times
FROM (SELECT DISTINCT objective_id FROM {scores}) AS o CROSS JOIN (SELECT DISTINCT {key} FROM {scores}) AS a
LEFT JOIN {scores} AS s ON s.objective_id = o.objective_id AND s.{key} = a.{key} GROUP BY ALL"""
    description = f"One row for every pair of objective and {noun}, none twice."
    return rows_check(asset, f"every_objective_scored_every_{noun}", description, "times = 1", rows=rows)


def ranking_is_total(asset: dg.AssetsDefinition, noun: str) -> dg.AssetChecksDefinition:
    """Return a check that each artifact has its own rank."""
    description = f"Every {noun} has one rank, ranks are unique, the consensus is in 0 to 1."
    return rows_check(
        asset,
        "ranking_is_total",
        description,
        once(f"{noun}_id"),
        once("rank"),
        "rank >= 1",
        "consensus BETWEEN 0 AND 1",
    )


def table_of(asset: dg.AssetsDefinition) -> str:
    """Return the asset as SQL names it."""
    return ".".join(asset.key.path)


def offenders_sql(rows: str, predicates: tuple[str, ...], shown: str = "*") -> str:
    """Return the query for the rows in which a predicate does not hold."""
    broken = " OR ".join(f"({text}) IS NOT TRUE" for text in predicates)
    return (
        f"SELECT {shown} FROM ({rows}) {'QUALIFY' if ' OVER ' in broken else 'WHERE'} {broken} ORDER BY ALL"
    )


def _offender_columns(asset: dg.AssetsDefinition, predicates: tuple[str, ...]) -> str:
    """Return the asset's keys and the columns that the predicates name; all columns where the asset has no
    schema."""
    schema = schema_of(asset)
    if schema is None:
        return "*"
    named = set(re.findall(r"\w+", " ".join(predicates)))
    return ", ".join(_quoted(column) for column in schema.columns if column in named or column in schema.keys)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
