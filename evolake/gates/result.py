"""What gates said of one candidate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evolake.gates.verdict import Verdict


@dataclass(frozen=True)
class GateResult:
    """One gate on one candidate. evidence: what its rules judged. evidence_sha: its blob, where it is stored.
    reused: it was stored already."""

    gate: str
    verdicts: tuple[Verdict, ...]
    evidence: Mapping[str, Any]
    evidence_sha: str | None = None
    reused: bool = False

    @property
    def passed(self) -> bool:
        """Whether every rule of the gate passed it."""
        return all(verdict.outcome == "pass" for verdict in self.verdicts)

    @property
    def blocked_by(self) -> Verdict | None:
        """The verdict that blocked it; None where it passed."""
        return next((verdict for verdict in self.verdicts if verdict.outcome != "pass"), None)


@dataclass(frozen=True)
class GateResults:
    """A candidate after its gates, in order, as far as it came. accepted: every gate passed it; to be stopped
    early is no pass."""

    artifact_id: str
    results: tuple[GateResult, ...]
    accepted: bool

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Of all gates that it met, in order."""
        return tuple(verdict for result in self.results for verdict in result.verdicts)

    @property
    def blocked_by(self) -> Verdict | None:
        """The verdict that blocked it; None where all it met were passes."""
        return next((verdict for verdict in self.verdicts if verdict.outcome != "pass"), None)

    @property
    def evidence(self) -> dict[str, Mapping[str, Any]]:
        """Gate -> what its rules judged."""
        return {result.gate: result.evidence for result in self.results}


def gate_outcomes(verdicts: Iterable[Mapping[str, Any]], key: str = "artifact_id") -> list[dict[str, Any]]:
    """Return what each gate said of each candidate, from rows of VERDICTS: its id (as `key`), gate, passed,
    and the rule, reason and evidence of a block.
    """
    result: dict[tuple[str, str], dict[str, Any]] = {}
    for verdict in verdicts:
        place = (verdict["artifact_id"], verdict["gate"])
        said = result.setdefault(
            place,
            {
                key: place[0],
                "gate": place[1],
                "passed": True,
                "rule_id": None,
                "reason": None,
                "evidence_sha": None,
            },
        )
        if verdict["outcome"] != "pass" and said["passed"]:
            said |= {
                "passed": False,
                **{name: verdict[name] for name in ("rule_id", "reason", "evidence_sha")},
            }
    return list(result.values())


def passed_gates(verdicts: Iterable[Mapping[str, Any]], gates: Iterable[str]) -> set[str]:
    """Return ids of the candidates that each of `gates` has passed, from rows of VERDICTS; a missing verdict
    is no pass."""
    wanted, passed = set(gates), {}
    for said in gate_outcomes(verdicts):
        if said["passed"]:
            passed.setdefault(said["artifact_id"], set()).add(said["gate"])
    return {artifact_id for artifact_id, names in passed.items() if names >= wanted}
