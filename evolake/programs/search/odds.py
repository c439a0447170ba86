"""Which operator makes the next child: a bandit whose credit is the gain for each evaluation.

Thompson sampling with discounted counts (Chapelle and Li, NeurIPS 2011; Raj and Kalyani, 2017): an operator
has a Beta prior, each of its trials adds a success between 0 and 1 and what is left to 1 as failure, and old
trials fade. A gain counts in relation to all that was gained so far, so that tiny steps at the end of a slope
do not keep structure from being tried.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evolake.programs.search.trials import Trials

FULL_GAIN = 0.05
"""Share of all gains so far that makes a trial a full success."""
FADING = 0.97
"""Factor by which a trial's weight falls with each later trial."""


@dataclass(frozen=True)
class Group:
    """Operators of one kind. prior: (successes, failures) of the group before any trial. operators: name ->
    that of each within the group."""

    prior: tuple[float, float]
    operators: Mapping[str, tuple[float, float]]


def draw_operator(
    groups: Sequence[Group], trials: Trials, random: np.random.Generator, *, barred: Collection[str] = ()
) -> str:
    """Return the name of an operator: a group is drawn, then one of it, so that many operators of a kind do
    not crowd out another kind.

    barred: names that are not drawn. Raises ValueError if no other is left.
    """
    successes, failures = credits_of(trials)

    def sampled(prior: tuple[float, float], names: Collection[str]) -> float:
        won, lost = (sum(counts.get(name, 0.0) for name in names) for counts in (successes, failures))
        return float(random.beta(prior[0] + won, prior[1] + lost))

    left = [group for group in groups if not set(barred).issuperset(group.operators)]
    group = max(left, key=lambda item: sampled(item.prior, item.operators))
    return max(
        (name for name in group.operators if name not in barred),
        key=lambda name: sampled(group.operators[name], (name,)),
    )


def credits_of(trials: Trials) -> tuple[dict[str, float], dict[str, float]]:
    """Return operator -> discounted successes, and operator -> discounted failures."""
    total = sum(trials.gains)
    successes: dict[str, float] = {}
    failures: dict[str, float] = {}
    for place, item in enumerate(trials.items):
        weight = FADING ** (len(trials.items) - 1 - place)
        won = min(1.0, trials.gains[place] / (FULL_GAIN * total)) if total > 0 else 0.0
        successes[item.operator] = successes.get(item.operator, 0.0) + weight * won
        failures[item.operator] = failures.get(item.operator, 0.0) + weight * (1.0 - won)
    return successes, failures
