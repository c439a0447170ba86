"""Count the proposals that the calls of an asset brought (`evolake.agents.calls` says what counts), end a
line that gets none, and warn of an asset that got none: a check that never blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import dagster as dg

from assets.checks import define
from assets.line import Line
from assets.shown import markdown
from evolake.lake import AGENT_CALLS, SESSION_TURNS, Lake, TableSchema, preceding, side_table
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.agents.calls import ProposalOutcomes


def outcomes_in(lake: Lake, line: Line, asset: str, cycle: str) -> ProposalOutcomes:
    """Return what came of the calls of a proposing asset in a cycle; nothing was asked where it has no
    rows."""
    from evolake.agents.calls import count_outcomes

    def rows(schema: TableSchema) -> list[dict[str, Any]]:
        table = side_table(asset, schema)
        return (
            lake.read(line.name, table, cycle).to_dicts()
            if lake.record(line.name, table, cycle) is not None
            else []
        )

    return count_outcomes(rows(AGENT_CALLS), roles_of(line, asset), rows(SESSION_TURNS))


def roles_of(line: Line, asset: str) -> frozenset[str]:
    """Return names of the roles whose valid reply is a proposal of an asset."""
    return frozenset(role.load().name for role in line.proposers.get(asset, ()))


def failed_before(lake: Lake, line: Line, cycle: str, most: int) -> list[str]:
    """Return the failed cycles that came right before `cycle`, at most so many, oldest first."""
    result: list[str] = []
    before = preceding(cycle)
    while (
        before is not None
        and len(result) < most
        and any(outcomes_in(lake, line, asset, before).failed for asset in line.proposers)
    ):
        result.insert(0, before)
        before = preceding(before)
    return result


def require_proposals_of(
    lake: Lake,
    line: Line,
    asset: str,
    cycle: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    allowed: int,
    last: str,
    turns: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Raise AgentUnavailable if `rows`, the calls of `asset` in `cycle` (turns: of its sessions), brought no
    proposal, and too many cycles before it neither."""
    from evolake.agents.calls import count_outcomes, require_proposals

    if roles := roles_of(line, asset):
        require_proposals(
            count_outcomes(rows, roles, turns),
            line=line.name,
            cycle=cycle,
            roles=roles,
            allowed=allowed,
            last=last,
            before=lambda most: failed_before(lake, line, cycle, most),
        )


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
