"""Where the evidence of system prompts is found again: one blob holds what all gates saw of a child."""

from __future__ import annotations

from collections.abc import Mapping

import evolake.prompts.evolution.checkers  # noqa: F401  (registers what the rules name)
from evolake.gate_spec import Evidence
from evolake.gates.stored import Find, StoredEvidence, by_sha
from evolake.lake import Lake


def find(lake: Lake, cycle: str | None) -> Find:
    """Of a root that immigrated, whose evidence is not stored, none."""
    stored = by_sha(lake, cycle)

    def of_gate(artifact: str, gate: str, shas: Mapping[str, str]) -> Evidence | None:
        whole = next((stored(artifact, name, shas) for name in shas), None)
        return (whole or {}).get(gate)

    return of_gate


STORED = StoredEvidence(find=find)
