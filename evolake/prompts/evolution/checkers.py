"""The checks that the rules of the prompts line name: pure functions of the evidence that `judging`
collects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from evolake.gate_spec import Evidence
from evolake.gates import Finding, checker
from evolake.gates.stored import Find, StoredEvidence, by_sha

if TYPE_CHECKING:
    from evolake.lake import Lake


@checker("prompts.strict_edits")
def strict_edits(evidence: Evidence) -> Finding | None:
    """Check that the applied hunks, replayed on the parent, give the child."""
    if evidence["replayed"] is None:
        return Finding(
            f"the hunks recorded as applied do not apply to {evidence['parent'][:12]}: "
            f"{evidence['objection']}"
        )
    if evidence["replayed"] != evidence["prompt_id"]:
        return Finding(
            f"the hunks recorded as applied make {evidence['replayed'][:12]} of "
            f"{evidence['parent'][:12]}, which is another prompt"
        )
    return None


@checker("prompts.size")
def size(evidence: Evidence, most_principles: int, most_characters: int) -> Finding | None:
    """No more principles, and none longer, than allowed."""
    principles = evidence["principles"]
    if not 1 <= len(principles) <= most_principles:
        return Finding(f"{len(principles)} principles, wanted 1 to {most_principles}")
    for name, text in principles:
        if len(text) > most_characters:
            return Finding(f"principle {name} has {len(text)} characters, {most_characters} are allowed")
    return None


@checker("prompts.new")
def new(evidence: Evidence) -> Finding | None:
    """No earlier prompt has the same texts."""
    return Finding(f"it says the same as {evidence['same_as'][:12]}") if evidence["same_as"] else None


@checker("prompts.no_problem_texts")
def no_problem_texts(evidence: Evidence) -> Finding | None:
    """No principle copies a problem."""
    for name, split in evidence["copies"]:
        return Finding(f"principle {name} copies a problem of the split {split}")
    return None


def evidence_of_cycle(lake: Lake, cycle: str | None) -> Find:
    """Return how the evidence of one cycle is found: one blob holds what all gates saw of a child. That of an
    added root is not stored."""
    stored = by_sha(lake, cycle)

    def find(artifact: str, gate: str, shas: Mapping[str, str]) -> Evidence | None:
        whole = next((stored(artifact, name, shas) for name in shas), None)
        return (whole or {}).get(gate)

    return find


STORED = StoredEvidence(find=evidence_of_cycle)
