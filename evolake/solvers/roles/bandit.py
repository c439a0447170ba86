"""The bandit that draws the moves of the classical planner: first an operator, then what it changes.

What a move is worth on a parent is the share of the parent's PAR-2 that it is expected to save: for each
family of formulas the saving of the variants that made the move, times the family's share of the parent's
cost. A move that saved much on a family on which this parent spends little is thus worth little here.

The bandit is Thompson sampling (Thompson, Biometrika 1933; Chapelle and Li, NIPS 2011) with a normal prior of
mean 0: of each arm one value is drawn from what is believed of it, and the largest wins. Nothing known means
equal odds. A base has many more options than a run has variants, so that arms without a try share a few draws
(many-armed bandits: Wang, Audibert and Munos, NIPS 2008), and which of them is taken depends on what moves of
the same files were worth and on the parent's counters (`reasons`). All of it is a pure function of the
request and of the generator.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evolake.solvers.roles.models import Credit

SPREAD = 0.15
"""Standard deviation of a move's worth before anything is known of it. One try counts as much as the prior
does."""
BLOCKED_WORTH = -0.15
"""Of a variant that a gate blocked: a build is lost, and nothing was learnt of its speed."""
LARGEST_WORTH = 0.5
"""Beyond it a saving, or a loss, counts no more: one formula with a heavy tail shall not decide."""
FRESH_DRAWS = 8
"""How many draws the arms without a try get at most, all together; at least one, and no more than there are
arms with a try."""
FILES_SCALE = 0.1
"""Among arms without a try, moves of files that were worth so much more are e times as likely. So are those
for which the counters speak most."""


@dataclass(frozen=True)
class MoveResult:
    """One try: the operator, the keys of the edits that it changed, and what it was worth on the parent at hand."""

    operator: str
    changed: tuple[str, ...]
    worth: float


@dataclass(frozen=True)
class Posterior:
    """What is believed of an arm after so many tries."""

    tries: int
    mean: float

    @property
    def spread(self) -> float:
        """Return the standard deviation of a draw."""
        return SPREAD / math.sqrt(self.tries + 1)


def tries_on(base: str, costs: Mapping[str, float], credits: Sequence[Credit]) -> list[MoveResult]:
    """Return the tries on a base as they are worth to a parent. costs: family -> share of the parent's PAR-2;
    empty: all count the same."""
    result = []
    for credit in credits:
        if credit.base == base and (credit.blocked or credit.savings):
            worth = BLOCKED_WORTH if credit.blocked else worth_of(credit.savings, costs)
            result.append(MoveResult(credit.operator, tuple(credit.changed), worth))
    return result


def worth_of(savings: Mapping[str, float], costs: Mapping[str, float]) -> float:
    """Return the expected saving on a parent with these costs. A family of which no saving is known counts as
    the mean of the others."""
    mean = sum(savings.values()) / len(savings)
    total = sum(costs.values())
    worth = (
        sum(share * savings.get(family, mean) for family, share in costs.items()) / total
        if total > 0
        else mean
    )
    return min(max(worth, -LARGEST_WORTH), LARGEST_WORTH)


def posterior(worths: Sequence[float], prior: float = 0.0) -> Posterior:
    """Return the posterior after these tries. prior: mean before any of them, which counts as one try."""
    return Posterior(len(worths), (sum(worths) + prior) / (len(worths) + 1))


def draw_operator(possible: Sequence[str], tried: Sequence[MoveResult], random: np.random.Generator) -> str:
    """Return the operator of the next move."""
    posteriors = [posterior([item.worth for item in tried if item.operator == name]) for name in possible]
    return possible[_largest(posteriors, random)]


def draw_arm(
    keys: Sequence[str],
    tried: Sequence[MoveResult],
    touched: Mapping[str, Sequence[str]],
    random: np.random.Generator,
    strengths: Mapping[str, float] | None = None,
) -> str:
    """Return the key of the edit to try next.

    Args:
        keys: edits that may be tried. touched: key -> files that the edit touches. strengths: key -> how much
            the parent's counters speak for a try of it, 0 to 1; it decides among edits without a try only.
    """
    strengths = strengths or {}
    posteriors = arm_posteriors(keys, tried, touched)
    known, fresh = (
        [key for key in keys if posteriors[key].tries],
        [key for key in keys if not posteriors[key].tries],
    )
    if fresh:
        means = np.array([posteriors[key].mean for key in fresh])
        weights = np.exp((means - means.max()) / FILES_SCALE + [strengths.get(key, 0.0) for key in fresh])
        chosen = fresh[int(random.choice(len(fresh), p=weights / weights.sum()))]
        known += [chosen] * min(FRESH_DRAWS, max(1, len(known)))
    return known[_largest([posteriors[key] for key in known], random)]


def arm_posteriors(
    keys: Sequence[str], tried: Sequence[MoveResult], touched: Mapping[str, Sequence[str]]
) -> dict[str, Posterior]:
    """Return key -> posterior; the prior of an edit is the mean of the files that it touches.

    A variant with several changed edits is a share of a try of each.
    """
    by_key: dict[str, list[float]] = {}
    by_file: dict[str, list[float]] = {}
    for item in tried:
        for key in item.changed:
            by_key.setdefault(key, []).append(item.worth / len(item.changed))
            for path in touched.get(key, ()):
                by_file.setdefault(path, []).append(item.worth / len(item.changed))
    files = {path: posterior(worths).mean for path, worths in by_file.items()}
    priors = {key: [files.get(path, 0.0) for path in touched.get(key, ())] or [0.0] for key in keys}
    return {key: posterior(by_key.get(key, []), sum(priors[key]) / len(priors[key])) for key in keys}


def _largest(posteriors: Sequence[Posterior], random: np.random.Generator) -> int:
    draws = [item.mean + item.spread * float(random.standard_normal()) for item in posteriors]
    return int(np.argmax(draws))
