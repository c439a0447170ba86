"""Gates one at a time, as the assets ask for them: evidence that is stored is judged as it is, what is missing is collected now.

A rule that has changed is thus judged anew on any old cycle without a run in the jail, and only what gets further than before costs anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import evolake.families.gates.checkers  # noqa: F401  (registers what the rules name)
from evolake.errors import MachineryError
from evolake.families.evolution.records import load_evidence
from evolake.families.gates.judging import GATE_NAMES, GATE_NUMBERS
from evolake.gates import Gate, Ruleset, Verdict, judge
from evolake.lake import BlobStore


class Renewal(Protocol):
    """What becomes of a candidate that gets further (evolake.families.evolution.further.Further). Rows in and out are rows of CANDIDATES."""

    def again(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The row after all gates, for evidence that is not stored."""
        ...

    def compared(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The row compared with the families that are known now, for evidence that is all there."""
        ...


@dataclass(frozen=True)
class Staged:
    """One gate on one candidate: verdicts, the blob of the evidence, and the votes or reviews in it."""

    row: Mapping[str, Any]
    gate: str
    verdicts: tuple[Verdict, ...]
    evidence_sha: str
    evidence: Mapping[str, Any]
    rows: list[dict[str, Any]]

    @property
    def passed(self) -> bool:
        return _passes(self.verdicts)

    def gated(self) -> dict[str, Any]:
        """A row of GATED."""
        last = self.verdicts[-1]
        return {
            "family_id": self.row["family_id"], "cycle": last.cycle, "gate": self.gate, "passed": self.passed,
            "rule_id": None if self.passed else last.rule_id, "reason": last.reason or None, "evidence_sha": self.evidence_sha,
            "ruleset_hash": last.ruleset_hash,
        }


def gates_of(verdicts: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What each gate said of each family, from rows of VERDICTS: family_id, gate, passed, and the rule and reason that blocked it."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for verdict in verdicts:
        key = (verdict["artifact_id"], verdict["gate"])
        said = found.setdefault(key, {"family_id": key[0], "gate": key[1], "passed": True, "rule_id": None, "reason": None, "evidence_sha": None})
        if verdict["outcome"] != "pass" and said["passed"]:
            said |= {"passed": False, **{name: verdict[name] for name in ("rule_id", "reason", "evidence_sha")}}
    return list(found.values())


def judge_stage(
    row: Mapping[str, Any], gate: str, ruleset: Ruleset, further: Renewal, *, blobs: BlobStore, cycle: str, run_id: str
) -> Staged:
    """One gate on a row of CANDIDATES that passed the gates before.

    A candidate that gets further than when it was made may be stopped at a gate before this one, as a duplicate of what was accepted since: then it
    is that gate's judgement that is given.

    Raises:
        MachineryError: evidence had to be collected and the jail failed, or ended before this gate without a block.
    """
    if gate not in json.loads(row["evidence"]):
        row = further.again(row)
        reached = [name for name in GATE_NAMES if name in json.loads(row["evidence"])]
        if gate not in reached:
            return _stopped(_staged(row, reached[-1], ruleset, blobs, cycle, run_id), gate)
    staged = _staged(row, gate, ruleset, blobs, cycle, run_id)
    if staged.passed and gate == row["gate"] == GATE_NAMES[-1]:
        row = further.compared(row)
        static = _staged(row, "static", ruleset, blobs, cycle, run_id)
        return replace(staged, row=row) if static.passed else _stopped(static, gate)
    return staged


def passes_all(evidence: Mapping[str, str], ruleset: Ruleset, blobs: BlobStore) -> bool:
    """Whether stored evidence (gate -> sha) passes every gate under these rules."""
    return all(
        gate in evidence and _passes(_verdicts(gate, load_evidence(evidence[gate], blobs)["evidence"], ruleset, "", "", "")) for gate in GATE_NAMES
    )


def _staged(row: Mapping[str, Any], gate: str, ruleset: Ruleset, blobs: BlobStore, cycle: str, run_id: str) -> Staged:
    sha = json.loads(row["evidence"])[gate]
    stored = load_evidence(sha, blobs)
    verdicts = _verdicts(gate, stored["evidence"], ruleset, row["family_id"], cycle, run_id)
    pinned = tuple(replace(verdict, evidence_sha=sha) for verdict in verdicts)
    return Staged(row, gate, pinned, sha, stored["evidence"], stored["rows"])


def _stopped(staged: Staged, wanted: str) -> Staged:
    """The judgement of an earlier gate than was wanted, without its votes or reviews."""
    if staged.passed:
        raise MachineryError(
            f"family {staged.row['family_id'][:12]} does not come to the gate {wanted!r} again", do="materialize the gates before it again"
        )
    return replace(staged, rows=[])


def _verdicts(gate: str, evidence: Mapping[str, Any], ruleset: Ruleset, family_id: str, cycle: str, run_id: str) -> list[Verdict]:
    gates = (Gate(GATE_NUMBERS[gate], gate, lambda _: evidence),)
    return judge(None, gates, ruleset, artifact_id=family_id, cycle=cycle, run_id=run_id)


def _passes(verdicts: Iterable[Verdict]) -> bool:
    return all(verdict.outcome == "pass" for verdict in verdicts)
