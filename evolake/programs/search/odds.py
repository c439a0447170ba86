"""Which operator makes the next child: a bandit whose credit is the gain for each evaluation.

Thompson sampling with discounted counts (Chapelle and Li, NeurIPS 2011; Raj and Kalyani, 2017): an operator has a Beta prior, each of its trials adds
a success between 0 and 1 and what is left to 1 as failure, and old trials fade. A gain counts in relation to all that was gained so far, so that tiny
steps at the end of a slope do not keep structure from being tried.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from evolake.programs.search.trials import Trials

FULL_GAIN = 0.05
"""Share of all gains so far that makes a trial a full success."""
FADING = 0.97
"""Factor by which a trial's weight falls with each later trial."""


def draw_operator(priors: Mapping[str, tuple[float, float]], trials: Trials, random: np.random.Generator, *, barred: Collection[str] = ()) -> str:
    """Return the name of an operator. priors: name -> (successes, failures) before any trial. barred: names that are not drawn."""
    successes, failures = credits_of(trials)
    names = [name for name in priors if name not in barred]
    drawn = [
        float(random.beta(priors[name][0] + successes.get(name, 0.0), priors[name][1] + failures.get(name, 0.0))) for name in names
    ]
    return names[int(np.argmax(drawn))]


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
