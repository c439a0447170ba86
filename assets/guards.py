"""No way round the gates: before a cycle is sealed, its blocking checks must have passed on the parts that
are there now.

In a run of the whole group a failing blocking check stops what is downstream. But the UI can also materialize
the closing asset alone, or start a run without its checks. The lake decides: a check publishes what it said
with the content that it judged (`assets.checks.define`), and it counts if it passed on the content that the
lake holds now. Dagster's event log is not asked: it may be lost, or another lake's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import dagster as dg

from evolake.lake import CHECKS, SHARED, Lake, side_table


def require_passed(lake: Lake, checks: Sequence[dg.AssetChecksDefinition], cycle: str) -> None:
    """Fail, not to be retried, when one of `checks` has not passed on the current part of `cycle`."""
    if missing := unmet(lake, checks, cycle):
        raise dg.Failure(
            f"cycle {cycle} cannot be sealed: these checks have not passed on its current parts: "
            f"{', '.join(missing)}. "
            "Materialize the whole group for this cycle, with its checks.",
            allow_retries=False,
        )


def unmet(lake: Lake, checks: Sequence[dg.AssetChecksDefinition], cycle: str) -> list[str]:
    """Return those of `checks` that have not passed on the lake's current part of `cycle`, each with the
    reason."""
    result: list[str] = []
    for key in [key for check in checks for key in check.check_keys]:
        line, asset = key.asset_key.path
        table = check_table(asset, key.name)
        said = lake.read(line, table, cycle).row(0, named=True) if lake.record(line, table, cycle) else None
        if said is None:
            why = "not run"
        elif not said["passed"]:
            why = "failed"
        elif said["judged_sha"] is None or said["judged_sha"] != content_of(lake, line, asset, cycle):
            why = "passed on an older part"
        else:
            continue
        result.append(f"{key.asset_key.to_user_string()}:{key.name} ({why})")
    return result


def content_of(lake: Lake, line: str, asset: str, cycle: str | None) -> str | None:
    """Return the sha256 (hex) over what `asset` holds in one partition, its rows of shared tables with it;
    None if it holds nothing under its own name."""
    tables = [asset, *(side_table(asset, schema) for schema in SHARED.values() if schema is not CHECKS)]
    records = {table: lake.record(line, table, cycle) for table in tables}
    if records[asset] is None:
        return None
    held = {table: record.content_sha for table, record in records.items() if record}
    return hashlib.sha256(json.dumps(held, sort_keys=True).encode()).hexdigest()


def check_table(asset: str, check: str) -> str:
    """Return the table in which a check of `asset` publishes its row of CHECKS."""
    return side_table(f"{asset}__{check}", CHECKS)
