"""One verdict: what one rule of one gate said of one artifact. A row of the shared `verdicts` table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

VerdictOutcome = Literal["pass", "block", "error", "skip"]
OUTCOMES = get_args(VerdictOutcome)


@dataclass(frozen=True)
class Verdict:
    """`outcome` error means that the gate itself could not judge (its reason says why); it never counts as a
    pass."""

    artifact_id: str
    cycle: str
    gate_no: int
    gate: str
    rule_id: str
    rule_version: str
    ruleset_hash: str
    outcome: VerdictOutcome
    reason: str
    evidence_sha: str | None
    run_id: str

    def __post_init__(self) -> None:
        if self.outcome not in OUTCOMES:
            raise ValueError(f"outcome must be one of {OUTCOMES} (got {self.outcome!r})")

    def row(self) -> dict[str, Any]:
        """Return the verdict as a row of the `verdicts` table."""
        return asdict(self)
