"""Why families were blocked, from the verdicts of record and the evidence that is stored: what the experience
is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evolake.families.evolution.observations import Observation, kind_of, traces_of
from evolake.families.evolution.records import load_evidence
from evolake.gates import Ruleset, load_rules
from evolake.lake import BlobStore
from evolake.project import BROUGHT


def observations(
    gated: Iterable[Mapping[str, Any]], blobs: BlobStore, lessons: Mapping[str, str]
) -> list[Observation]:
    """Return one for each gate that blocked a family. gated: as `stages.gates_of` gives them. lessons: see
    `lessons_of`."""
    blocks: list[Observation] = []
    for said in gated:
        if said["passed"]:
            continue
        evidence = load_evidence(said["evidence_sha"], blobs)["evidence"]
        rule_id = said["rule_id"]
        kind, traces = kind_of(rule_id, evidence), traces_of(rule_id, evidence)
        blocks.append(
            Observation(
                said["family_id"],
                kind,
                said["gate"],
                rule_id,
                said["reason"],
                traces,
                lessons.get(rule_id, ""),
            )
        )
    return blocks


def lessons_of(ruleset: Ruleset) -> dict[str, str]:
    """Return rule -> lesson, "" if it has none. If a project was laid out before rules had lessons, the
    shipped rule of that id gives its own.
    """
    shipped = load_rules(BROUGHT / "data_lake" / "seeds" / "rules", ruleset.line).lessons
    return {rule.id: rule.lesson or shipped.get(rule.id, "") for rule in ruleset.rules}


def failure_rows(blocks: Sequence[Observation], cycle: str) -> list[dict[str, Any]]:
    """Return rows of FAILURES."""
    return [
        {
            "family_id": item.family_id,
            "cycle": cycle,
            "kind": item.kind,
            "gate": item.gate,
            "rule_id": item.rule_id,
            "reason": item.reason,
            "lesson": item.lesson or None,
            "traces": list(item.traces),
        }
        for item in blocks
    ]
