"""Gates one at a time, as the assets ask for them: evidence that is stored is judged as it is, what is
missing is collected now.

A rule that has changed is thus judged again on any old cycle without a run in the jail, and only what gets
further than before costs anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from evolake import gates
from evolake.errors import MachineryError
from evolake.families.evolution.records import load_evidence
from evolake.families.gates.specs import GATE_NAMES, GATES
from evolake.gates import GateResult, Ruleset, gate_named, gate_outcomes
from evolake.gates.checkers import known_gates
from evolake.lake import BlobStore

known_gates("families")  # which registers the checkers that rules name


class Renewal(Protocol):
    """What becomes of a candidate that gets further (evolake.families.evolution.further.Further). Rows in and
    out are rows of CANDIDATES."""

    def again(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the row after all gates, for evidence that is not stored."""
        ...

    def compared(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the row compared with the families that are known now, for evidence that is all there."""
        ...


@dataclass(frozen=True)
class FamilyGateResult(GateResult):
    """One gate on one candidate: its row of CANDIDATES, as it is now, and the votes or reviews that the
    gate's evidence comes from."""

    row: Mapping[str, Any] = field(default_factory=dict)
    rows: Sequence[Mapping[str, Any]] = ()

    def gated(self) -> dict[str, Any]:
        """Return a row of GATED."""
        last = self.verdicts[-1]
        return {
            "family_id": self.row["family_id"],
            "cycle": last.cycle,
            "gate": self.gate,
            "passed": self.passed,
            "rule_id": None if self.passed else last.rule_id,
            "reason": last.reason or None,
            "evidence_sha": self.evidence_sha,
            "ruleset_hash": last.ruleset_hash,
        }


def gates_of(verdicts: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what each gate said of each family, from rows of VERDICTS: family_id, gate, passed, and the rule
    and reason that blocked it."""
    return gate_outcomes(verdicts, key="family_id")


def replay_gate(
    row: Mapping[str, Any],
    gate: str,
    ruleset: Ruleset,
    further: Renewal,
    *,
    blobs: BlobStore,
    cycle: str,
    run_id: str,
) -> FamilyGateResult:
    """Run one gate on a row of CANDIDATES that passed the gates before. Evidence that is not there, or of a
    version that looked at less, is made.

    A candidate that gets further than when it was made may be stopped at a gate before this one, as a
    duplicate of what was accepted since: then it is that gate's result that is given.

    Raises:
        MachineryError: evidence had to be collected and the jail failed, or ended before this gate without a
            block.
    """
    reused = _usable(row, gate, blobs)
    if not reused:
        row = further.again(row)
        reached = [name for name in GATE_NAMES if name in json.loads(row["evidence"])]
        if gate not in reached:
            return _stopped(_replayed(row, reached[-1], ruleset, blobs, cycle, run_id, reused=False), gate)
    result = _replayed(row, gate, ruleset, blobs, cycle, run_id, reused=reused)
    if result.passed and gate == row["gate"] == GATE_NAMES[-1]:
        row = further.compared(row)
        static = _replayed(row, "static", ruleset, blobs, cycle, run_id, reused=True)
        return replace(result, row=row) if static.passed else _stopped(static, gate)
    return result


def passes_all(evidence: Mapping[str, str], ruleset: Ruleset, blobs: BlobStore) -> bool:
    """Return whether stored evidence (gate -> sha) passes every gate under these rules."""
    return all(
        gate.name in evidence
        and gates.replay_gate(
            gate,
            load_evidence(evidence[gate.name], blobs)["evidence"],
            ruleset,
            artifact_id="",
            cycle="",
            run_id="",
        ).passed
        for gate in GATES
    )


def _usable(row: Mapping[str, Any], gate: str, blobs: BlobStore) -> bool:
    """Return whether the row has evidence of this gate that its rules can judge."""
    sha = json.loads(row["evidence"]).get(gate)
    return sha is not None and gates.is_usable(gate_named(GATES, gate), load_evidence(sha, blobs)["evidence"])


def _replayed(
    row: Mapping[str, Any],
    gate: str,
    ruleset: Ruleset,
    blobs: BlobStore,
    cycle: str,
    run_id: str,
    *,
    reused: bool,
) -> FamilyGateResult:
    sha = json.loads(row["evidence"])[gate]
    stored = load_evidence(sha, blobs)
    said = gates.replay_gate(
        gate_named(GATES, gate),
        stored["evidence"],
        ruleset,
        artifact_id=row["family_id"],
        cycle=cycle,
        run_id=run_id,
        evidence_sha=sha,
    )
    return FamilyGateResult(gate, said.verdicts, said.evidence, sha, reused, row, stored["rows"])


def _stopped(result: FamilyGateResult, wanted: str) -> FamilyGateResult:
    """Return the result of an earlier gate than was wanted, without its votes or reviews."""
    if result.passed:
        raise MachineryError(
            f"family {result.row['family_id'][:12]} does not come to the gate {wanted!r} again",
            do="materialize the gates before it again",
        )
    return replace(result, rows=())
