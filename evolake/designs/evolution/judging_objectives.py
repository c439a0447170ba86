"""The gate of an objective: it runs in the jail on the results at hand, and gives numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evolake.gates import Finding, GateSpec, Ruleset, Verdict, checker, replay_gate

GATE = GateSpec(0, "objective", lambda scores: {"scores": scores}, ("scores",), asset="objectives", about="it runs in the jail and gives numbers")


def judge_objective(objective_id: str, scores: Sequence[Mapping[str, Any]], *, ruleset: Ruleset, cycle: str, run_id: str) -> list[Verdict]:
    """Verdicts of one objective from its rows of SCORES on designs that have results."""
    return list(replay_gate(GATE, {"scores": list(scores)}, ruleset, artifact_id=objective_id, cycle=cycle, run_id=run_id).verdicts)


@checker("designs.objective_runs")
def objective_runs(evidence: Mapping[str, Any], *, min_scored: int) -> Finding | None:
    """It scored at least `min_scored` designs. With no results at all there is nothing to fail on."""
    rows = evidence["scores"]
    scored = sum(row["score"] is not None for row in rows)
    if not rows or scored >= min_scored:
        return None
    return Finding(f"scored {scored} of {len(rows)} designs; the first failure: {rows[0]['status']} {rows[0]['reason']}".strip()[:500])
