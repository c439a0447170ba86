"""Difficulty drift: is a new family harder or easier for a solver model than the one it came from (paper,
section 5.1 and appendix I)?

Both are asked at the same difficulties and seeds, each instance several times. pass@k is the unbiased
estimate (Chen et al. 2021); the interval of the mean difference is a paired bootstrap over the pairs of
families, 2000 resamples as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from evolake.agents import AgentFailure, Agents
from evolake.answers.forms import asked_units
from evolake.answers.matching import matches
from evolake.answers.reading import extract_boxed
from evolake.answers.values import answer_value
from evolake.families.gates.checked_answers import right_answers
from evolake.families.gates.consensus import take_votes
from evolake.families.gates.execution import caps_of
from evolake.families.model.contract import Family
from evolake.families.roles.solver import SOLVER_ROLE, SolveRequest
from evolake.families.sandbox.running import generate
from evolake.families.settings import FamiliesSettings
from evolake.seeds import child_seed, generator
from evolake.stats.bootstrap import bootstrap_interval
from evolake.stats.proportions import pass_at_k

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
                    (instance.inputs, answer_value(extract_boxed(final) or "", vote.label))
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
