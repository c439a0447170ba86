"""How many came through, and what it cost: gate by gate, accepted attempts against rejected ones (paper,
section 5.4, tables 5 and 6).

An attempt is one proposal with all its refinements; it is accepted where one of its versions is, and one that
brought no family at all is rejected. Costs count every version, because that is what was paid.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from evolake.families.gates.specs import GATE_NAMES, GATES

Row = Mapping[str, Any]
ALL = "all"
ATTEMPTS = "attempts"


def funnel_rows(
    candidates: Sequence[Row], gated: Iterable[Row], cycle: str, failed_proposals: Sequence[Row] = ()
) -> list[dict[str, Any]]:
    """Return rows of FUNNEL. candidates: rows of CANDIDATES, every version. gated: rows of GATED, by the
    verdicts of record. failed_proposals: rows of `FAILED_PROPOSALS`."""
    operators = {row["family_id"]: row["operator"] for row in candidates}
    numbers = {gate.name: gate.number for gate in GATES}
    counts: dict[tuple[str, str], list[int]] = {}
    for row in gated:
        for operator in (operators[row["family_id"]], ALL):
            came = counts.setdefault((operator, row["gate"]), [0, 0])
            came[0] += 1
            came[1] += bool(row["passed"])
    accepted = accepted_ids(candidates, gated)
    for versions in attempts(candidates):
        for operator in (versions[0]["operator"], ALL):
            came = counts.setdefault((operator, ATTEMPTS), [0, 0])
            came[0] += 1
            came[1] += any(version["family_id"] in accepted for version in versions)
    for row in failed_proposals:
        for operator in (row["operator"], ALL):
            counts.setdefault((operator, ATTEMPTS), [0, 0])[0] += 1
    return [
        {
            "cycle": cycle,
            "operator": operator,
            "gate_no": numbers.get(gate),
            "gate": gate,
            "came": came,
            "passed": passed,
            "blocked": came - passed,
            "rate": passed / came,
        }
        for (operator, gate), (came, passed) in sorted(
            counts.items(), key=lambda item: (item[0][0] != ALL, item[0][0], _place(item[0][1]))
        )
    ]


def accepted_ids(candidates: Sequence[Row], gated: Iterable[Row]) -> set[str]:
    """Return candidates that every gate was asked about and passed."""
    passed: dict[str, set[str]] = {row["family_id"]: set() for row in candidates}
    for row in gated:
        if row["passed"] and row["family_id"] in passed:
            passed[row["family_id"]].add(row["gate"])
    return {family_id for family_id, gates in passed.items() if gates == set(GATE_NAMES)}


def attempts(candidates: Sequence[Row]) -> list[list[Row]]:
    """Return the versions of each attempt, in order."""
    result: dict[int, list[Row]] = {}
    for row in sorted(candidates, key=lambda row: (row["attempt"], row["round"])):
        result.setdefault(row["attempt"], []).append(row)
    return list(result.values())


def resource_rows(
    candidates: Sequence[Row], accepted: set[str], calls: Sequence[Row], cycle: str, failed_proposals: int = 0
) -> list[dict[str, Any]]:
    """Return rows of RESOURCES. candidates: rows of CANDIDATES. accepted: ids. calls: rows of AGENT_CALLS;
    those about no family count in "all". failed_proposals: attempts that brought no family; they took nothing
    in the jail, and are rejected."""
    outcomes: dict[str, list[list[Row]]] = {"accepted": [], "rejected": [[] for _ in range(failed_proposals)]}
    for versions in attempts(candidates):
        outcomes[
            "accepted" if any(version["family_id"] in accepted for version in versions) else "rejected"
        ].append(versions)
    outcomes[ALL] = [*outcomes["accepted"], *outcomes["rejected"]]
    rows = []
    for outcome, groups in outcomes.items():
        ids = {version["family_id"] for versions in groups for version in versions}
        paid = [call for call in calls if outcome == ALL or call["artifact_id"] in ids]
        usd = sum(call["usd"] or 0.0 for call in paid)
        families = len(outcomes["accepted"]) if outcome == ALL else len(groups)
        spent = {
            name: [sum(cost(version, name) for version in versions) for versions in groups]
            for name in ("calls", "cpu_s", "wall_s")
        }
        rows.append(
            {
                "cycle": cycle,
                "outcome": outcome,
                "attempts": len(groups),
                "versions": sum(map(len, groups)),
                "calls_mean": _mean(spent["calls"]),
                "cpu_s_mean": _mean(spent["cpu_s"]),
                "cpu_s_p99": float(np.quantile(spent["cpu_s"], 0.99)) if groups else None,
                "wall_s_mean": _mean(spent["wall_s"]),
                "tokens": sum((call["input_tokens"] or 0) + (call["output_tokens"] or 0) for call in paid),
                "usd": usd,
                "usd_each": usd / families if families else None,
            }
        )
    return rows


def cost(row: Row, name: str) -> float:
    """Return what one version took in the jail, over all gates: calls, cpu_s or wall_s."""
    return float(sum(account[name] for account in json.loads(row["costs"]).values()))


def divergence(rows: Sequence[Row]) -> float | None:
    """Return how many times the cpu time of an accepted attempt a rejected one takes; None where one of the
    two is missing."""
    by_outcome = {row["outcome"]: row["cpu_s_mean"] for row in rows}
    accepted, rejected = by_outcome.get("accepted"), by_outcome.get("rejected")
    return rejected / accepted if accepted and rejected else None


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _place(gate: str) -> int:
    return GATE_NAMES.index(gate) if gate in GATE_NAMES else len(GATE_NAMES)
