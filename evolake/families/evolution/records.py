"""Make rows of examined families: candidates, votes, reviews, the stored evidence that verdicts rest on, each
attempt of a cycle, and the memory of all cycles, which the population carries in its state. One blob per
gate: {"evidence": what the rules judge, "rows": the votes or reviews behind it}."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from evolake.agents.attempts import TriedIdea
from evolake.families.evolution.refining import Failure, Proposal, Proposals
from evolake.families.gates.blind import Review
from evolake.families.gates.consensus import Vote
from evolake.families.gates.judging import FamilyResults
from evolake.families.gates.specs import GATES
from evolake.families.independence import Independence, independence_of
from evolake.families.model.contract import as_json
from evolake.families.model.population import store_family
from evolake.families.tables import further_table
from evolake.gate_spec import gates_of_assets
from evolake.gates.stored import StoredEvidence, in_rows
from evolake.lake import BlobStore


def gates_seen(examined: FamilyResults) -> dict[str, dict[str, Any]]:
    """Return gate -> its evidence as it is stored, for every gate that was reached."""
    rows: dict[str, list[dict[str, Any]]] = {
        "consensus": [plain_vote(vote) for vote in examined.sample_votes],
        "blind": [plain_review(review) for review in examined.reviews],
    }
    return {
        gate: {"evidence": evidence, "rows": rows.get(gate, [])}
        for gate, evidence in examined.evidence.items()
    }


def store_evidence(examined: FamilyResults, blobs: BlobStore) -> dict[str, str]:
    """Return gate -> sha, for every gate that was reached."""
    return store_gates(gates_seen(examined), blobs)


def store_gates(seen: Mapping[str, Mapping[str, Any]], blobs: BlobStore) -> dict[str, str]:
    """Return gate -> sha, of evidence as `gates_seen` gives it."""
    return {gate: store_gate(item["evidence"], item["rows"], blobs) for gate, item in seen.items()}


def store_gate(evidence: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], blobs: BlobStore) -> str:
    """Keep the evidence of one gate with the votes or reviews behind it; gives its sha."""
    return blobs.put(as_json({"evidence": evidence, "rows": rows}).encode())


def load_evidence(sha: str, blobs: BlobStore) -> dict[str, Any]:
    """Return the evidence of one gate: {"evidence", "rows"}. Raises CorruptPart."""
    return json.loads(blobs.get(sha))


def candidate_row(
    examined: FamilyResults,
    blobs: BlobStore,
    *,
    cycle: str,
    origin: str,
    attempt: int = 0,
    number: int = 0,
    seen: Mapping[str, Mapping[str, Any]] | None = None,
    authors: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return a row of CANDIDATES. attempt, number: which attempt of the cycle, and which version within it.
    Stores the family and its evidence.

    seen: the evidence, where it is another than `gates_seen` of `examined`. authors: rows of
    VALIDATOR_AUTHORS of this family.
    """
    family, verdict = examined.family, examined.blocked_by
    evidence = store_gates(gates_seen(examined) if seen is None else seen, blobs)
    return {
        "family_id": family.family_id,
        "state": "accepted" if examined.accepted else "blocked",
        "cycle": cycle,
        "name": family.name,
        "title": family.title,
        "category": family.category,
        "language": family.language,
        "operator": family.operator,
        "origin": origin,
        "parents": list(family.parents),
        "attempt": attempt,
        "round": number,
        "record_sha": store_family(family, blobs),
        "fingerprint": examined.fingerprint.to_json() if examined.fingerprint else None,
        "evidence": as_json(evidence),
        "gate": verdict.gate if verdict else None,
        "rule_id": verdict.rule_id if verdict else None,
        "reason": verdict.reason if verdict else None,
        "instances": None,
        "costs": as_json(examined.costs),
        "independent": independence_seen(examined, authors).level,
    }


def independence_seen(
    examined: FamilyResults,
    authors: Sequence[Mapping[str, Any]] = (),
    answers: Sequence[Mapping[str, Any]] = (),
) -> Independence:
    """Return who solved the family from its text alone, by what its gates saw.

    authors: rows of VALIDATOR_AUTHORS. answers: of INDEPENDENT_ANSWERS.
    """
    _, votes = vote_rows(examined.family_id, "", [plain_vote(vote) for vote in examined.sample_votes], True)
    return independence_of(authors, votes, [plain_review(review) for review in examined.reviews], answers)


def proposal_rows(
    proposals: Iterable[Proposal],
    blobs: BlobStore,
    *,
    cycle: str,
    origin: str,
    authors: Sequence[Mapping[str, Any]] = (),
) -> list[dict[str, Any]]:
    """Return rows of CANDIDATES for every version of every attempt. A version that comes twice is one row:
    the accepted one, else the first.

    authors: rows of VALIDATOR_AUTHORS of all versions.
    """
    rows: dict[str, dict[str, Any]] = {}
    wrote: dict[str, list[Mapping[str, Any]]] = {}
    for row in authors:
        wrote.setdefault(row["family_id"], []).append(row)
    for proposal in proposals:
        for number, examined in enumerate(proposal.rounds):
            if examined.accepted or examined.family_id not in rows:
                rows[examined.family_id] = candidate_row(
                    examined,
                    blobs,
                    cycle=cycle,
                    origin=origin,
                    attempt=proposal.number,
                    number=number,
                    authors=wrote.get(examined.family_id, ()),
                )
    return list(rows.values())


def derivation_rows(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return rows of DERIVATIONS: the parents of one candidate in equal shares; a parent that was used twice
    has two of them."""
    parents = list(row["parents"])
    return [
        {
            "child_id": row["family_id"],
            "parent_id": parent,
            "operator": row["operator"],
            "weight": parents.count(parent) / len(parents),
            "cycle": row["cycle"],
        }
        for parent in dict.fromkeys(parents)
    ]


def plain_vote(vote: Vote) -> dict[str, Any]:
    """Return a vote as JSON."""
    return {
        "difficulty": vote.difficulty,
        "seed": vote.seed,
        "label": vote.label,
        "decided": vote.decided,
        "for_label": list(vote.for_label),
        "answers": vote.answers,
        "statuses": vote.statuses,
    }


def plain_review(review: Review) -> dict[str, Any]:
    """Return a review as JSON."""
    return {
        "number": review.number,
        "difficulty": review.difficulty,
        "seed": review.seed,
        "reviewer": review.reviewer,
        "status": review.status,
        "answer": review.answer,
        "label": as_json(review.label),
        "matched": review.matched,
        "programs": len(review.turns),
        "note": review.note,
    }


def bite_rows(family_id: str, cycle: str, bites: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
    """Return rows of RULE_BITES. bites: as the static gate's evidence has them."""
    return [
        {
            "family_id": family_id,
            "cycle": cycle,
            "rule": rule,
            "sentence": sentence,
            "way": way,
            "difficulty": level,
            "instances": instances,
            "changed": changed,
            "share": changed / instances,
        }
        for rule, sentence, way, level, instances, changed in bites
    ]


def vote_rows(
    family_id: str, cycle: str, votes: Sequence[Mapping[str, Any]], passed: bool
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return rows of VOTES, one per instance, and of VALIDATOR_VOTES, one per voter and instance. votes: as
    `plain_vote` gives them."""
    whole, single = [], []
    for vote in votes:
        place = {
            "family_id": family_id,
            "cycle": cycle,
            "difficulty": vote["difficulty"],
            "seed": vote["seed"],
        }
        whole.append(
            place
            | {
                "label": as_json(vote["label"]),
                "decided": vote["decided"],
                "primary_agrees": "primary" in vote["for_label"],
                "voters": len(vote["statuses"]),
                "votes": len(vote["for_label"]),
                "passed": passed,
            }
        )
        single += [
            place
            | {
                "voter": voter,
                "status": status,
                "answer": as_json(vote["answers"][voter]) if voter in vote["answers"] else None,
                "for_label": voter in vote["for_label"],
            }
            for voter, status in vote["statuses"].items()
        ]
    return whole, single


STORED = StoredEvidence(
    find=in_rows(
        ("seeds", "candidates", "immigrant_families", *map(further_table, gates_of_assets(GATES))),
        "family_id",
        lambda blob, _gate: blob["evidence"],
        "families",
    ),
    seconds="""
SELECT 'candidates' AS asset, cycle, family_id AS artifact_id, (
  SELECT coalesce(sum(cast(json_extract(costs, '$.' || gate || '.cpu_s') AS DOUBLE)), 0)
    FROM (SELECT unnest(json_keys(costs)) AS gate)) AS cpu_s
FROM families.candidates""",
)
"""Where the evidence of families is stored, and what each took in the jail."""


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
