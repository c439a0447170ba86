"""Keep what was tried: a row for each attempt of a cycle, and the memory of all cycles, which the population
carries in its state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from evolake.agents.attempts import TriedIdea
from evolake.families.evolution.proposal import Failure, Proposal, Proposals

TRIED = "tried"
"""Name of the state's entry."""
MOST_REMEMBERED = 600
"""Attempts that the state keeps, the newest."""
SHORT_ID = 8
LONGEST_TEXT = 300
"""Characters of an idea and of a reason in it."""


def idea_rows(made: Proposals, cycle: str) -> list[dict[str, Any]]:
    """Return rows of IDEAS, in the order of the attempts."""
    return [
        _row(item, cycle) for item in sorted([*made.proposals, *made.failures], key=lambda item: item.number)
    ]


def _row(item: Proposal | Failure, cycle: str) -> dict[str, Any]:
    shared = {"number": item.number, "cycle": cycle, "operator": item.operator, "idea": item.idea or None}
    if isinstance(item, Failure):
        return shared | {
            "family_id": None,
            "title": item.title or None,
            "outcome": "unmade",
            "reason": item.reason,
        }
    last = item.rounds[-1]
    verdict = last.blocked_by
    reasons = [f"{verdict.gate}: {verdict.reason}"] if verdict else []
    reasons += [f"a correction was lost: {reason}" for reason in item.lost]
    outcome = "blocked" if verdict else "accepted"
    return shared | {
        "family_id": last.family_id,
        "title": last.family.title,
        "outcome": outcome,
        "reason": "; ".join(reasons) or None,
    }


def _outcome(family_id: str | None, accepted: set[str]) -> str:
    """Return what became of an idea; family_id: None if no family was created."""
    if family_id in accepted:
        return "accepted"
    return "unmade" if family_id is None else "blocked"


def remembered(
    before: Sequence[Mapping[str, Any]], rows: Iterable[Mapping[str, Any]], accepted: set[str]
) -> list[dict[str, Any]]:
    """Return the state's entry after a cycle. before: as it was. rows: of IDEAS. accepted: families that the
    gates of record passed."""
    now = [
        {
            "cycle": row["cycle"],
            "candidate": (row["family_id"] or "")[:SHORT_ID],
            "idea": f"{row['title'] or row['operator']}: {row['idea'] or row['operator']}"[:LONGEST_TEXT],
            "outcome": _outcome(row["family_id"], accepted),
            "reason": "" if row["family_id"] in accepted else (row["reason"] or "")[:LONGEST_TEXT],
        }
        for row in rows
    ]
    return [*before, *now][-MOST_REMEMBERED:]


def tried_ideas(
    entry: Sequence[Mapping[str, Any]], retired: Mapping[str, str] = MappingProxyType({})
) -> list[TriedIdea]:
    """Return the state's entry as a prompt's table takes it. retired: id of a family that was accepted and is
    retired -> why."""
    reasons = {family_id[:SHORT_ID]: reason for family_id, reason in retired.items()}
    return [
        TriedIdea(
            item["cycle"],
            item["candidate"],
            "",
            item["idea"],
            "retired" if item["candidate"] in reasons else item["outcome"],
            reason=reasons.get(item["candidate"]) or item["reason"],
        )
        for item in entry
    ]
