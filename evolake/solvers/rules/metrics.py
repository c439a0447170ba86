"""How much the rules are worth, measured on what is stored. After SATLUTION (arXiv 2509.07367), "Rule
effectiveness metrics", made precise.

    prevention   of the variants that failed after the compliance gate (by a later gate, or by a regression),
                 the share that today's compliance rules would block, by replay: what is caught now before a
                 build is paid for
    compliance   of the variants that a cycle judged, the share that passed all compliance rules at their
                 first attempt
    coverage     of the failure signatures seen so far (gate and rule, or kind of regression), the share of
                 which at least one variant would be blocked by a compliance rule now
    kill rate    of the variants judged, the share that a rule blocked: for each rule by itself, and for all
                 gates together
    time to fix  mean number of attempts until a variant that compliance blocked at first passed it

A share of nothing is null, never 0 or 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evolake.gates import Ruleset
from evolake.solvers.rules.replay import StoredVariant, blocked_by

COMPLIANCE = "compliance"


@dataclass(frozen=True)
class RuleMetrics:
    """See the module. `kills`: rule id -> (variants blocked, variants judged by it)."""

    prevention: float | None
    compliance: float | None
    coverage: float | None
    kill_rate: float | None
    time_to_fix: float | None
    kills: Mapping[str, tuple[int, int]]

    def rows(self, cycle: str) -> list[dict[str, Any]]:
        """Return one row per metric, and one per rule: {"cycle", "metric", "rule_id", "value"}."""
        named = {
            name: getattr(self, name)
            for name in ("prevention", "compliance", "coverage", "kill_rate", "time_to_fix")
        }
        totals = [
            {"cycle": cycle, "metric": name, "rule_id": None, "value": value} for name, value in named.items()
        ]
        return totals + [
            {"cycle": cycle, "metric": "kill_rate", "rule_id": rule_id, "value": blocked / judged}
            for rule_id, (blocked, judged) in self.kills.items()
        ]


def rule_metrics(
    ruleset: Ruleset,
    variants: Sequence[StoredVariant],
    verdicts: Iterable[Mapping[str, Any]],
    attempts: Mapping[str, Sequence[bool]],
) -> RuleMetrics:
    """Return the metrics of one cycle.

    Args:
        ruleset: the rules in force after the cycle. variants: all that are stored, of all cycles.
        verdicts: rows of this cycle's final verdicts (artifact_id, rule_id, outcome).
        attempts: variant -> whether each of its attempts, in order, passed compliance; the last one is the
            variant's own.
    """
    late = [
        variant
        for variant in variants
        if variant.failed and variant.gate != COMPLIANCE and variant.evidence is not None
    ]
    caught = set(blocked_by(ruleset.of_gate(COMPLIANCE), late))
    signatures = {variant.signature for variant in late}
    covered = {variant.signature for variant in late if variant.variant_id in caught}
    judged: Counter[str] = Counter()
    blocked: Counter[str] = Counter()
    seen: set[str] = set()
    dead: set[str] = set()
    for row in verdicts:
        seen.add(row["artifact_id"])
        judged[row["rule_id"]] += 1
        if row["outcome"] == "block":
            blocked[row["rule_id"]] += 1
            dead.add(row["artifact_id"])
    mended = [
        tries.index(True)
        for tries in (list(attempt) for attempt in attempts.values())
        if tries and not tries[0] and True in tries
    ]
    return RuleMetrics(
        prevention=_share(len(caught), len(late)),
        compliance=_share(sum(bool(result and result[0]) for result in attempts.values()), len(attempts)),
        coverage=_share(len(covered), len(signatures)),
        kill_rate=_share(len(dead), len(seen)),
        time_to_fix=_share(sum(mended), len(mended)),
        kills={rule_id: (blocked[rule_id], judged[rule_id]) for rule_id in sorted(judged)},
    )


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None
