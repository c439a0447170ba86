"""Warn that no proposal came: an asset check that never blocks, of every asset that asks agents for
proposals.

See `evolake.agents.calls`.
"""

from __future__ import annotations

from typing import Any

import dagster as dg

from assets.checks import define
from assets.line import Line
from assets.proposals import outcomes_in
from assets.shown import markdown
from evolake.lake import AGENT_CALLS, side_table
from resources.lake import LakeResource

NAME = "some_proposal_was_answered"
SQL = """
SELECT role, status, count(*) AS attempts FROM agent_calls_all
WHERE NOT superseded AND origin_line = '{line}' AND origin_asset = '{table}' AND cycle = '{cycle}'
  GROUP BY ALL ORDER BY ALL"""


def proposal_checks(line: Line, *assets: dg.AssetsDefinition) -> list[dg.AssetChecksDefinition]:
    """Return a check of each of `assets`, which are all that the line names in `proposers`: it warns where
    every proposal of a cycle failed.

    Metadata: attempts, valid, proposals, withdrawn (sessions that found no gain); if it warns also what
    failed and how often, and `sql`, ready to paste.
    """
    if (named := {asset.key.path[-1] for asset in assets}) != set(line.proposers):
        raise ValueError(f"{line.name}: proposers are {sorted(line.proposers)} (got {sorted(named)})")
    return [_proposal_check(line, asset) for asset in assets]


def _proposal_check(line: Line, asset: dg.AssetsDefinition) -> dg.AssetChecksDefinition:
    name = asset.key.path[-1]

    def check(context: dg.AssetCheckExecutionContext, lake: LakeResource) -> dg.AssetCheckResult:
        result, cycle = outcomes_in(lake.open(), line, name, context.partition_key), context.partition_key
        metadata: dict[str, Any] = {
            "attempts": result.attempts,
            "valid": result.valid,
            "proposals": result.proposed,
            "withdrawn": result.withdrawn,
        }
        if result.failed:
            sql = SQL.format(line=line.name, table=side_table(name, AGENT_CALLS), cycle=cycle).strip()
            metadata |= {f"failed: {word}": count for word, count in result.failures.items()}
            metadata["sql"] = markdown(f"```sql\n{sql}\n```")
        why = f"every proposal of cycle {cycle} failed: {result.words}" if result.failed else None
        return dg.AssetCheckResult(
            passed=not result.failed, severity=dg.AssetCheckSeverity.WARN, metadata=metadata, description=why
        )

    return define(
        check,
        asset,
        NAME,
        "Of the proposals that agents were asked for, one at least brought a valid reply.",
        line.cycles,
        blocking=False,
    )
