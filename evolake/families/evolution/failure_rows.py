"""Why families were blocked, from the verdicts of record and the evidence that is stored: what the experience is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evolake.families.evolution.observations import Observation, kind_of, traces_of
from evolake.families.evolution.records import load_evidence
from evolake.lake import BlobStore


def observations(gated: Iterable[Mapping[str, Any]], blobs: BlobStore, lessons: Mapping[str, str]) -> list[Observation]:
    """One for each gate that blocked a family. gated: as `stages.gates_of` gives them. lessons: of the ruleset in force."""
    blocks: list[Observation] = []
    for said in gated:
        if said["passed"]:
            continue
        evidence = load_evidence(said["evidence_sha"], blobs)["evidence"]
        rule_id = said["rule_id"]
        kind, traces = kind_of(rule_id, evidence), traces_of(rule_id, evidence)
        blocks.append(Observation(said["family_id"], kind, said["gate"], rule_id, said["reason"], traces, lessons.get(rule_id, "")))
    return blocks


def failure_rows(blocks: Sequence[Observation], cycle: str) -> list[dict[str, Any]]:
    """Rows of FAILURES."""
    return [
        {
            "family_id": item.family_id, "cycle": cycle, "kind": item.kind, "gate": item.gate, "rule_id": item.rule_id, "reason": item.reason,
            "lesson": item.lesson or None, "traces": list(item.traces),
        }
        for item in blocks
    ]
