"""What the line has tried in all of its cycles, as one table: variants with their gain or block, and plans of
which no variant came.

Failed plans leave no variant in the archive. What they were for is kept in its `state`, under FAILED_PLANS.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evolake.agents.attempts import TriedIdea
from evolake.solvers.evolution.contest_record import CONTESTS, contest_gain
from evolake.solvers.evolution.population import Population
from evolake.solvers.roles.models import SHORT_ID, with_short_ids

FAILED_PLANS = "unmade_plans"
MOST_KEPT = 200
_LONGEST = 400


def with_failed_plans(
    known: Sequence[Mapping[str, Any]],
    failed_proposals: Sequence[Mapping[str, Any]],
    plans: Sequence[Mapping[str, Any]],
) -> list[Mapping[str, Any]]:
    """Return the failed plans that are known and those of this cycle, the newest `MOST_KEPT`.

    Args:
        failed_proposals: rows of `FAILED_PROPOSALS`. plans: rows of PLANS of the same cycle.
    """
    by_id = {row["plan_id"]: row for row in plans}
    new = [
        {
            "plan_id": row["plan_id"],
            "cycle": row["cycle"],
            "parent_id": (by_id[row["plan_id"]]["parent_ids"] or [""])[0],
            "idea": by_id[row["plan_id"]]["hypothesis"][:_LONGEST],
            "reason": (row["reason"] or "")[:_LONGEST],
        }
        for row in failed_proposals
        if row["plan_id"] in by_id
    ]
    again = {entry["plan_id"] for entry in new}
    return [*(entry for entry in known if entry["plan_id"] not in again), *new][-MOST_KEPT:]


def tried_ideas(population: Population) -> list[TriedIdea]:
    """Return every attempt of earlier cycles, the oldest first."""
    rows = {row["variant_id"]: row for row in population.rows()}
    contests = {record["challenger_id"]: record for record in population.value(CONTESTS, [])}
    ideas = [
        _idea_of(row, rows.get(row["variant_id"], {}), contests.get(row["variant_id"]))
        for row in population.history.to_dicts()
    ]
    ideas += [
        TriedIdea(
            entry["cycle"],
            "",
            entry["parent_id"][:SHORT_ID],
            entry["idea"],
            "unmade",
            reason=with_short_ids(entry["reason"]),
        )
        for entry in population.value(FAILED_PLANS, [])
    ]
    return sorted(ideas, key=lambda item: item.cycle)


def _idea_of(
    attempt: Mapping[str, Any], row: Mapping[str, Any], contest: Mapping[str, Any] | None
) -> TriedIdea:
    idea = " / ".join(filter(None, [row.get("title"), row.get("hypothesis")])) or ", ".join(
        attempt["changed"] or []
    )
    blocked = attempt["outcome"] == "blocked" or row.get("state") == "blocked"
    gain = [] if attempt["gain"] is None else [f"rank {attempt['gain']:+.2f}"]
    gain += [f"solved {attempt['solved_gain']:+g}"] if attempt["solved_gain"] else []
    gain += [contest_gain(contest)] if contest else []
    outcome, reason = row.get("state") or attempt["outcome"], ""
    if blocked:
        outcome, reason = "blocked", f"{row.get('gate') or attempt['gate'] or ''}: {row.get('reason') or ''}"
    elif contest and not contest["wins"]:
        outcome, reason = "not promoted", contest["reason"]
    parent = (row.get("parents") or [""])[0]
    return TriedIdea(
        attempt["cycle"],
        attempt["variant_id"][:SHORT_ID],
        parent[:SHORT_ID],
        idea,
        outcome,
        ", ".join(gain),
        with_short_ids(reason),
    )
