"""Simplify a champion: the shortest version that a greedy search finds, each version through all gates and
with no loss beyond noise under the seeds of the search; then compared with the champion under held-out
seeds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evolake.contest import LEAST_PAIRS, paired
from evolake.errors import HostBusy
from evolake.gates import run_gates
from evolake.programs.evolution.budgeted_search import SearchSetup
from evolake.programs.evolution.outcome import search_seeds
from evolake.programs.evolution.population import Row
from evolake.programs.evolution.program_contest import ROUNDING
from evolake.programs.gate_specs import GATES
from evolake.programs.gates import Candidate
from evolake.programs.model.project import Project, program_id
from evolake.programs.search.simplifying import Shortest, Texts, shortest

SIMPLIFY = "simplify"
"""Operator of a simplified champion."""


def simplified(
    setup: SearchSetup, champion: Row, texts: Texts, noise: float
) -> tuple[Shortest, Candidate | None]:
    """Return the shortest version that is found before the setup's evaluator has nothing left to spend, and
    the candidate that it is; None if nothing shorter is as good.

    That a version behaves as the champion is no objection of a gate here.

    Args:
        texts: to begin with: the champion's, or those of an earlier version. noise: within a seed.
    """
    project, seeds = setup.project, search_seeds(setup.project, setup.own, setup.seed)
    found: list[Candidate] = []

    def holds(version: Texts) -> bool:
        name = program_id(project.name, version)
        candidate = Candidate(dict(version), name, setup.evaluator, seeds)
        try:
            judged = run_gates(
                candidate, GATES, setup.ruleset, artifact_id=name, cycle=SIMPLIFY, run_id=SIMPLIFY
            )
        except HostBusy:
            return False
        own = {"score": candidate.score, "metrics": json.dumps(dict(candidate.metrics))}
        good = judged.accepted and not losses(project, [own], [champion], noise)
        found[:] = [candidate] if good else found
        return good

    result = shortest(texts, holds, lambda: setup.evaluator.exhausted)
    return result, found[0] if found else None


def losses(
    project: Project, own: Sequence[Mapping[str, Any]], champion: Sequence[Mapping[str, Any]], noise: float
) -> list[str]:
    """Return the declared metrics in which a program is worse than the champion, the score by more than the
    noise, each as a mean over pairs. What the order of a sum can change is no loss.

    own, champion: rows with score and metrics, in pairs. One that lacks a value which the champion has is
    worse.
    """
    result: list[str] = []
    for name in project.metrics:
        pairs = _pairs(project, name, own, champion)
        gaps = [-np.inf if one is None else one - other for one, other in pairs]
        allowed = (noise if name == project.score_name else 0.0) + ROUNDING * max(
            (abs(other) for _, other in pairs), default=0.0
        )
        if not pairs or np.mean(gaps) < -allowed:
            result.append(name)
    return result


def _pairs(
    project: Project, name: str, own: Sequence[Mapping[str, Any]], champion: Sequence[Mapping[str, Any]]
) -> list[tuple[float | None, float]]:
    """Return the values of a metric of both, higher is better, where the champion has one."""
    sign = 1 if project.metrics[name] == "max" else -1

    def value(row: Mapping[str, Any]) -> float | None:
        got = row["score"] if name == project.score_name else json.loads(row["metrics"]).get(name)
        return None if got is None else sign * got

    pairs = [(value(one), value(other)) for one, other in zip(own, champion, strict=True)]
    return [(one, other) for one, other in pairs if other is not None]


@dataclass(frozen=True)
class Verdict:
    """Whether a simplified version replaces the champion where it is shown, and why. difference: mean of how
    much better it is under held-out seeds."""

    holds: bool
    pairs: int
    difference: float | None
    reason: str


def compared(
    project: Project,
    own: Sequence[Mapping[str, Any]],
    champion: Sequence[Mapping[str, Any]],
    noise: float,
    random: np.random.Generator,
) -> Verdict:
    """Compare a simplified version with the champion under held-out seeds: it may not be worse by more than
    the noise within a seed in the mean, nor beyond its 95% interval.

    own, champion: rows of MEASURED under the same seeds.
    """
    pairs = _pairs(project, project.score_name, own, champion)
    if not pairs:
        return Verdict(False, 0, None, "the champion has no held-out score")
    if any(one is None for one, _ in pairs):
        return Verdict(False, len(pairs), None, "it fails under a held-out seed")
    gaps = [one - other for one, other in pairs if one is not None]
    difference = float(np.mean(gaps))
    worse = losses(project, own, champion, noise)
    if not worse and noise and len(gaps) >= LEAST_PAIRS and paired(gaps, random).high < 0:
        worse = [project.score_name]
    if worse:
        return Verdict(False, len(gaps), difference, f"worse under held-out seeds in {' and '.join(worse)}")
    return Verdict(True, len(gaps), difference, f"no worse beyond the noise on {len(gaps)} held-out seeds")
