"""Measure a cycle as the paper does: its funnel and its costs, gate by gate (section 5.4, tables 5 and 6),
and the drift of difficulty (section 5.1 and appendix I).

An attempt is one proposal with all its refinements; it is accepted if one of its versions is, and one that
brought no family at all is rejected. Costs count every version, because that is what was paid.

Drift asks whether a new family is harder for a solver model than the one it came from. Both are asked at the
same difficulties and seeds, each instance several times. pass@k is the unbiased estimate (Chen et al. 2021);
the interval of the mean difference is a paired bootstrap over the pairs of families, 2000 resamples as in the
paper.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from evolake.agents import AgentFailure, Agents
from evolake.answers.forms import asked_units
from evolake.answers.matching import matches
from evolake.answers.reading import extract_boxed
from evolake.answers.values import answer_value
from evolake.families.gates.consensus import right_answers, take_votes
from evolake.families.gates.execution import caps_of
from evolake.families.gates.specs import GATE_NAMES, GATES
from evolake.families.model.contract import Family
from evolake.families.roles.readers import SOLVER_ROLE, SolveRequest
from evolake.families.sandbox.running import generate
from evolake.families.settings import FamiliesSettings
from evolake.seeds import child_seed, generator
from evolake.stats.bootstrap import bootstrap_interval
from evolake.stats.proportions import pass_at_k

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


KS = (1, 5, 8)
RESAMPLES = 2000
EVOLVED, PARENT = "evolved", "parent"


def measure_pair(
    family: Family,
    parent: Family,
    *,
    pool: Any,
    agents: Agents,
    settings: FamiliesSettings,
    cycle: str,
    root_seed: int,
) -> list[dict[str, Any]]:
    """Return rows of DRIFT: one per instance, of the family and of its parent. A call that gives no usable
    reply is a wrong answer, and is counted."""
    pairs = [
        (difficulty, child_seed(root_seed, "families", family.family_id, "drift", number))
        for number, difficulty in enumerate(settings.drift_difficulties)
    ]
    rows = []
    for role, element in ((EVOLVED, family), (PARENT, parent)):
        instances = [
            item
            for item in generate(element, pairs, pool=pool, caps=caps_of(settings))
            if item.status == "ok"
        ]
        votes = take_votes(element, instances, pool=pool, settings=settings)
        for instance, vote in zip(instances, votes, strict=True):
            if not vote.decided:
                continue
            count = settings.drift_samples
            replied = agents.call_many(
                SOLVER_ROLE,
                [SolveRequest(statement=instance.text)] * count,
                seeds=[instance.seed] * count,
                artifact_ids=[element.family_id] * count,
                attempts=list(range(count)),
            )
            replies = [reply.value for reply in replied]
            failed = sum(isinstance(reply, AgentFailure) for reply in replies)
            units = asked_units(instance.text)
            finals = [reply.final for reply in replies if not isinstance(reply, AgentFailure)]
            if element.checkers:
                tasks = [
                    (instance.inputs, answer_value(extract_boxed(final) or "", vote.label, units))
                    for final in finals
                ]
                correct = sum(right_answers(element, tasks, pool=pool, settings=settings))
            else:
                correct = sum(
                    matches(final, vote.label, case_sensitive=element.answer.case_sensitive, units=units)
                    for final in finals
                )
            rows.append(
                {
                    "family_id": family.family_id,
                    "parent_id": parent.family_id,
                    "cycle": cycle,
                    "role": role,
                    "difficulty": instance.difficulty,
                    "seed": instance.seed,
                    "samples": count,
                    "correct": correct,
                    "failed_calls": failed,
                }
            )
    return rows


def drift_summary(rows: Sequence[Mapping[str, Any]], cycle: str, root_seed: int) -> list[dict[str, Any]]:
    """Return rows of DRIFT_SUMMARY, one for each k that the samples allow. A pair counts where both of its
    families were asked."""
    pairs: dict[tuple[str, str], dict[str, list[Mapping[str, Any]]]] = {}
    for row in rows:
        pairs.setdefault((row["family_id"], row["parent_id"]), {EVOLVED: [], PARENT: []})[row["role"]].append(
            row
        )
    whole = [pair for _, pair in sorted(pairs.items()) if pair[EVOLVED] and pair[PARENT]]
    summary = []
    for k in KS:
        if not whole or any(row["samples"] < k for row in rows):
            continue
        evolved, parent = ([passes(pair[role], k) for pair in whole] for role in (EVOLVED, PARENT))
        deltas = [first - other for first, other in zip(evolved, parent, strict=True)]
        interval = bootstrap_interval(
            deltas, generator(root_seed, "families", cycle, "drift", k), resamples=RESAMPLES
        )
        summary.append(
            {
                "cycle": cycle,
                "k": k,
                "pairs": len(whole),
                "parent": fmean(parent),
                "evolved": fmean(evolved),
                "delta": interval.estimate,
                "low": interval.low,
                "high": interval.high,
            }
        )
    return summary


def passes(rows: Sequence[Mapping[str, Any]], k: int) -> float:
    """Return pass@k, averaged over instances."""
    return fmean(pass_at_k(row["samples"], row["correct"], k) for row in rows)
