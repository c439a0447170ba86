"""Ask gates again: one at a time, as the assets do, and for candidates that get further by a rule that has
changed.

Evidence that is stored is judged as it is, what is missing is collected now. So a changed rule is judged
again on any old cycle without a run in the jail, and only what gets further than before costs anything.

What a new family must differ from is what is accepted now: the archive that entered the cycle, the versions
of this cycle that were accepted when they were made and still are, and those that got further before it. So
of two alike the one that was accepted first stays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from evolake import gates
from evolake.errors import MachineryError
from evolake.families.evolution.records import load_evidence, store_evidence, store_gate
from evolake.families.gates.judging import FamilyResults
from evolake.families.gates.specs import GATE_NAMES, GATES
from evolake.families.gates.static import nearest
from evolake.families.model.contract import Family, as_json
from evolake.families.model.population import load_family
from evolake.families.model.similarity import Fingerprint
from evolake.gates import GateResult, Ruleset, gate_named, gate_outcomes
from evolake.gates.checkers import known_gates
from evolake.lake import BlobStore

known_gates("families")  # which registers the checkers that rules name


class Renewal(Protocol):
    """What becomes of a candidate that gets further (evolake.families.evolution.stages.Further). Rows in and
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


@dataclass
class Further:
    """What the candidates of one cycle become on the way. Rows are rows of CANDIDATES; one that got further
    has the evidence and the fingerprint of now, and its `gate`, which says what blocked it when it was made,
    is None.

    archived: the fingerprints of what entered the cycle; asked for once, where a candidate gets further.
    examine: all gates on a family, compared with the fingerprints that it is given; called only where
    evidence is missing. renewed: family_id -> the row of each candidate that got further here.
    """

    archived: Callable[[], list[Fingerprint]]
    rows: Sequence[Mapping[str, Any]]
    ruleset: Ruleset
    blobs: BlobStore
    examine: Callable[[Family, Sequence[Fingerprint]], FamilyResults]
    renewed: dict[str, dict[str, Any]] = field(default_factory=dict)
    _known: list[Fingerprint] | None = None

    def again(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the row after all gates, for evidence that is not stored. Raises MachineryError when the
        jail failed."""
        examined = self.examine(load_family(row["record_sha"], self.blobs), self.known())
        return self._renew(
            row, examined.fingerprint, store_evidence(examined, self.blobs), accepted=examined.accepted
        )

    def compared(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the row with all its evidence as it is stored, but for the families that it is most like:
        those are of now."""
        evidence, ours = json.loads(row["evidence"]), Fingerprint.from_json(row["fingerprint"])
        stored = load_evidence(evidence["static"], self.blobs)
        static = stored["evidence"] | {"nearest": nearest(ours, self.known())}
        evidence["static"] = store_gate(static, stored["rows"], self.blobs)
        return self._renew(row, ours, evidence, accepted=passes_all(evidence, self.ruleset, self.blobs))

    def known(self) -> list[Fingerprint]:
        """Of every family that is accepted now."""
        if self._known is None:
            standing = [
                row
                for row in self.rows
                if row["gate"] is None
                and row["fingerprint"]
                and passes_all(json.loads(row["evidence"]), self.ruleset, self.blobs)
            ]
            self._known = [*self.archived(), *(Fingerprint.from_json(row["fingerprint"]) for row in standing)]
        return self._known

    def _renew(
        self, row: Mapping[str, Any], ours: Fingerprint | None, evidence: Mapping[str, str], *, accepted: bool
    ) -> dict[str, Any]:
        if accepted and ours is not None:
            self.known().append(ours)
        now = dict(row) | {
            "fingerprint": ours.to_json() if ours else None,
            "evidence": as_json(evidence),
            "gate": None,
        }
        self.renewed[row["family_id"]] = now
        return now
