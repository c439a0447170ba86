"""Count the proposals that the calls of an asset brought, and end a line that gets none;
`evolake.agents.calls` says what counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assets.line import Line
from evolake.lake import AGENT_CALLS, SESSION_TURNS, Lake, TableSchema, preceding, side_table

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
