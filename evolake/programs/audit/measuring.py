"""Is the score a measurement? Evaluate one program again: under one seed, under many, next to others."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evolake.contest import ERROR, paired
from evolake.contest.costs import SEEN
from evolake.contest.paired import FLIPS_FROM
from evolake.errors import HostBusy
from evolake.gates.run import side_by_side
from evolake.programs.audit.attacks import evaluator_texts
from evolake.programs.audit.soundness import MARGIN, Budget, merit_of
from evolake.programs.audit.verdict import About, Finding, Scored
from evolake.programs.model.evaluator_text import clock_in
from evolake.programs.model.project import Project
from evolake.programs.sandbox.evaluating import Evaluator
from evolake.programs.settings import ProgramsSettings

REPEATS, LOADED = 4, 12
"""Evaluations under one seed; pairs of one evaluation alone and one next to others."""
SIDE_BY_SIDE = 4
"""Evaluations at the same time that load the machine."""
NOTICED = 0.01
"""Share of a score that a clock may change without a word."""


@dataclass
class Part:
    """What one part of an audit found, filled step by step. scores: of single evaluations."""

    about: About
    findings: list[Finding] = field(default_factory=list[Finding])
    figures: dict[str, Any] = field(default_factory=dict[str, Any])
    notes: list[str] = field(default_factory=list[str])
    scores: list[Scored] = field(default_factory=list[Scored])

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        rows = {name: [vars(item) for item in getattr(self, name)] for name in ("findings", "scores")}
        return {"about": self.about, "figures": self.figures, "notes": self.notes, **rows}

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> Part:
        """Return the part that `to_json` wrote."""
        findings = [Finding(**item) for item in data["findings"]]
        scores = [Scored(**item) for item in data["scores"]]
        return cls(data["about"], findings, dict(data["figures"]), list(data["notes"]), scores)


def measurement(
    project: Project,
    own: ProgramsSettings,
    seeds: Sequence[int],
    budget: Budget,
    command: str,
    jail: str | None,
) -> Part:
    """Return how repeatable the score of the initial program is. seeds: of its evaluations, the first several
    times."""
    part = Part("measurement")
    again = f"{command} --only measurement"
    with Evaluator(project, own, workers=SIDE_BY_SIDE, mode=jail) as evaluator:
        sign = 1 if project.higher_is_better else -1

        def merit(seed: int, side: str = "loaded") -> float | None:
            try:
                result = merit_of(project, evaluator.evaluate(project.evolving, seed))
            except HostBusy:
                return None
            part.scores.append(Scored("measurement", side, seed, None if result is None else sign * result))
            return result

        same = [score for _ in range(REPEATS) if (score := merit(seeds[0], "same seed")) is not None]
        others: list[float] = []
        for seed in seeds[1:]:
            if budget.left <= 0:
                break
            if (score := merit(seed, "other seed")) is not None:
                others.append(score)
        over = [same[0], *others] if same else others
        if len(same) < 2 or len(over) < 2:
            part.notes.append("too few evaluations ended with a score to measure noise")
            return part
        within, between = statistics.stdev(same), statistics.stdev(over)
        size = max(abs(statistics.fmean(over)), 1e-9)
        part.figures |= {
            "evaluations": f"{len(same)} under one seed, {len(over)} under different seeds",
            "deterministic": "yes" if within <= MARGIN * size else "no",
            "standard deviation under one seed": f"{within:.4g}",
            "standard deviation over seeds": f"{between:.4g}",
        }
        clock = clock_in(evaluator_texts(project))
        if within <= MARGIN * size:
            if between <= MARGIN * size:
                part.notes.append(
                    "no score changes with the seed: any difference is one, and held-out seeds show nothing"
                )
        else:
            changed = (max(same) - min(same)) / size
            said = f"{len(same)} evaluations of one program under one seed differ by {100 * changed:.2g} %"
            if clock and changed > NOTICED:
                reason = f"the evaluator reads a clock ({clock.partition(': ')[2]}), and {said}"
                change = 'let the kernel measure: mode "separate", and the cpu_s of the results'
                part.findings.append(Finding("measurement", "clock", reason, change, again))
            else:
                part.notes.append(f"{said}: it draws by something else than the seed, or measures time")
            if budget.left > 0:
                _load(part, merit, seeds, budget, again)
    best = project.given.construction.best
    if best is not None:
        reached = sign * best - max(over)
        part.figures["best known score"] = f"{best:.8g}"
        if reached <= MARGIN * max(1.0, abs(best)):
            reason = f"the initial program already has the best known score, {best:.8g}: no gain can show"
            change = "state a better one in [construction], or begin with a weaker program"
            part.findings.append(Finding("measurement", "saturated", reason, change, again))
    return part


def _load(part: Part, merit: Any, seeds: Sequence[int], budget: Budget, again: str) -> None:
    """Compare evaluations that run alone with such that run side by side."""
    differences: list[float] = []
    for place in range(LOADED):
        if budget.left <= 0:
            break
        seed = seeds[place % len(seeds)]
        alone = merit(seed, "alone")
        loaded = side_by_side(merit, [seed] * SIDE_BY_SIDE, SIDE_BY_SIDE)
        known = [score for score in loaded if score is not None]
        if alone is not None and known:
            differences.append(statistics.fmean(known) - alone)
    if len(differences) < FLIPS_FROM:
        return
    contest = paired(differences, np.random.default_rng(0))
    part.figures["next to three others"] = f"{contest.effect:+.4g} ({contest.low:.4g} to {contest.high:.4g})"
    if contest.high < 0 or contest.low > 0:
        reason = (
            f"next to three other evaluations it is {'worse' if contest.effect < 0 else 'better'} by "
            f"{abs(contest.effect):.4g} (95 % {contest.low:.4g} to {contest.high:.4g}, {contest.pairs} pairs)"
        )
        change = "score by counts, or by the processor time that the kernel measures"
        part.findings.append(Finding("measurement", "load", reason, change, again))


def seeds_needed(differences: Sequence[float]) -> int | None:
    """Return an estimate of how many held-out seeds show a gain like this in `SEEN` of contests; None if it
    is no gain. It assumes differences with the spread that was seen."""
    from scipy.special import ndtri

    gain = statistics.fmean(differences)
    if gain <= 0:
        return None
    spread = statistics.stdev(differences) if len(differences) > 1 else 0.0
    return max(FLIPS_FROM, math.ceil(((ndtri(1 - ERROR) + ndtri(SEEN)) * spread / gain) ** 2))
