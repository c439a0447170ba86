"""What the cycle leaves for the next: who did how well, findings, and the evidence that rules are replayed
on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evolake.lake.blobs import BlobStore
from evolake.solvers.evolution.population import Population, edits_of_row
from evolake.solvers.evolution.post_mortem import Evaluated, PostMortem, attempt_of
from evolake.solvers.gates.evidence import load_evidence
from evolake.solvers.rules.replay import Standing as ReplayStanding
from evolake.solvers.rules.replay import StoredVariant
from evolake.solvers.settings import SolversSettings


def evaluate(
    population: Population,
    variants: Sequence[Mapping[str, Any]],
    verdicts: Sequence[Mapping[str, Any]],
    metrics: Sequence[Mapping[str, Any]],
    ranking: Sequence[Mapping[str, Any]],
    blobs: BlobStore,
) -> list[Evaluated]:
    """Return every variant of the cycle with what became of it, by the verdicts of record."""
    rows = {row["variant_id"]: row for row in population.rows()}
    blocked = {row["artifact_id"]: row for row in verdicts if row["outcome"] != "pass"}
    measured = {row["variant_id"]: row for row in metrics}
    ranks = {row["variant_id"]: row["rank"] for row in ranking}
    result = []
    for row in variants:
        name, parent = row["variant_id"], rows.get(row["parents"][0]) if row["parents"] else None
        objection = blocked.get(name)
        parent_id = parent["variant_id"] if parent else ""
        result.append(
            Evaluated(
                name,
                row["base"],
                row["hypothesis"],
                blobs.get(row["diff_sha"]).decode(),
                edits_of_row(row),
                edits_of_row(parent) if parent else (),
                objection["gate"] if objection else "",
                objection["rule_id"] if objection else "",
                objection["reason"] if objection else "",
                row["objections"][-1] if row["objections"] else "",
                None if objection else measured.get(name),
                measured.get(parent_id),
                None if objection else ranks.get(name),
                ranks.get(parent_id),
            )
        )
    return result


def history_rows(
    evaluated: Sequence[Evaluated], ranked: int, cycle: str, settings: SolversSettings
) -> list[dict[str, Any]]:
    """Return rows of HISTORY."""
    return [
        attempt_of(item, ranked, settings).model_dump() | {"variant_id": item.variant_id, "cycle": cycle}
        for item in evaluated
    ]


def finding_rows(result: PostMortem, cycle: str) -> list[dict[str, Any]]:
    """Return rows of FINDINGS."""
    return [
        {
            "finding_id": f"{cycle}-{number}",
            "cycle": cycle,
            "title": item.title,
            "lesson": item.lesson,
            "subject": item.subject,
            "explanation": item.explanation,
            "evidence": list(item.evidence),
            "assessment": result.assessment,
        }
        for number, item in enumerate(result.findings)
    ]


def stored_variants(
    population: Population,
    variants: Sequence[Mapping[str, Any]],
    verdicts: Sequence[Mapping[str, Any]],
    history: Sequence[Mapping[str, Any]],
    blobs: BlobStore,
) -> list[StoredVariant]:
    """Return all variants that the lake remembers with the evidence of the compliance gate, for replay."""
    blocked = {
        row["artifact_id"]: (row["gate"], row["rule_id"]) for row in verdicts if row["outcome"] != "pass"
    }
    worse = {
        row["variant_id"]
        for row in [*population.history.to_dicts(), *history]
        if (row["solved_gain"] or 0.0) < 0
    }
    result = []
    for row in [*population.rows(), *variants]:
        gate, rule = blocked.get(
            row["variant_id"],
            (row["gate"] or "", row["rule_id"] or "") if row["state"] == "blocked" else ("", ""),
        )
        standing: ReplayStanding
        if gate:
            standing = "blocked"
        elif row["variant_id"] in worse:
            standing = "regressed"
        else:
            standing = "accepted"
        sha = json.loads(row["evidence"] or "{}").get("compliance")
        result.append(
            StoredVariant(
                row["variant_id"],
                row["cycle"],
                standing,
                gate or ("benchmark" if standing == "regressed" else ""),
                rule or ("solved" if standing == "regressed" else ""),
                load_evidence(sha, blobs) if sha else None,
            )
        )
    return result
