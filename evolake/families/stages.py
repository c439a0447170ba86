"""Gates one at a time, as the assets ask for them: evidence that is stored is judged as it is, what is missing is collected now.

A rule that has changed is thus judged anew on any old cycle without a run in the jail, and only what gets further than before costs anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import evolake.families.checkers  # noqa: F401  (registers what the rules name)
from evolake.errors import MachineryError
from evolake.families.judging import GATE_NUMBERS, Examined
from evolake.families.records import load_evidence, store_evidence
from evolake.gates import Gate, Ruleset, Verdict, judge
from evolake.lake import BlobStore

Examine = Callable[[Mapping[str, Any]], Examined]
"""All gates on the family of a row, for evidence that is not stored."""


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
        return all(verdict.outcome == "pass" for verdict in self.verdicts)

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
    row: Mapping[str, Any], gate: str, ruleset: Ruleset, examine: Examine, *, blobs: BlobStore, cycle: str, run_id: str
) -> Staged:
    """One gate on a row of CANDIDATES.

    Raises:
        MachineryError: evidence had to be collected and the jail failed, or the gates before this one no longer pass.
    """
    sha = json.loads(row["evidence"]).get(gate)
    if sha is None:
        sha = store_evidence(examine(row), blobs).get(gate)
    if sha is None:
        raise MachineryError(f"family {row['family_id'][:12]} does not come to the gate {gate!r} again", do="materialize the gates before it again")
    stored = load_evidence(sha, blobs)
    gates = (Gate(GATE_NUMBERS[gate], gate, lambda _: stored["evidence"]),)
    verdicts = judge(None, gates, ruleset, artifact_id=row["family_id"], cycle=cycle, run_id=run_id)
    pinned = tuple(replace(verdict, evidence_sha=sha) for verdict in verdicts)
    return Staged(row, gate, pinned, sha, stored["evidence"], stored["rows"])
