"""A warning that judging itself may be at fault: an asset check that never blocks, the same in every line and
study.

What judging raises on one candidate is that candidate's block (evolake.gates.boundary), also where a mistake
of ours raised it. This check looks at the blocks of a whole cycle (evolake.gates.boundary) and warns where
they look like one mistake: metadata name the place, how many met it, what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg
import polars as pl

from assets.checks import define, markdown_table, with_cycle
from assets.shown import markdown
from evolake.lake import VERDICTS, TableSchema, side_table
from resources.lake import LakeResource

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
