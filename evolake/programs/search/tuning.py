"""The numbers of a program drawn by Optuna's tree-structured Parzen estimator (Bergstra et al., NeurIPS 2011)
from what its relatives scored.

Programs that are the same but for their numbers are trials of one study. The study is made again of the
archive each time, so that there is no state next to the lake's: a cycle that was killed draws what it would
have drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from evolake.programs.search.numbers import LONGEST, Number, Relative, numbers_in, skeleton, with_numbers

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

FEWEST, MOST = 6, 24
"""Trials without which nothing is drawn, and numbers that are drawn together at most."""


def tuned(
    parent: Relative, relatives: Sequence[Relative], random: np.random.Generator, *, maximize: bool
) -> dict[str, str] | None:
    """Return the parent's texts with numbers drawn from all of its skeleton; None where these are too few or
    the numbers too many."""
    own, result = skeleton(parent.texts), numbers_in(parent.texts)
    if not own or not 0 < len(result) <= MOST:
        return None
    trials = [
        (numbers_in(relative.texts), relative.score)
        for relative in (parent, *relatives)
        if skeleton(relative.texts) == own
    ]
    if len(trials) < FEWEST:
        return None
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(
        seed=int(random.integers(2**31)), n_startup_trials=0, multivariate=True
    )
    study = optuna.create_study(direction="maximize" if maximize else "minimize", sampler=sampler)
    space = {str(place): space_of([numbers[place] for numbers, _ in trials]) for place in range(len(result))}
    for numbers, score in trials:
        values = {
            str(place): int(number.value) if number.whole else number.value
            for place, number in enumerate(numbers)
        }
        study.add_trial(optuna.trial.create_trial(params=values, distributions=space, value=score))
    drawn = study.ask(fixed_distributions=space)
    return with_numbers(
        parent.texts, [(number, float(drawn.params[str(place)])) for place, number in enumerate(result)]
    )


def space_of(values: Sequence[Number]) -> BaseDistribution:
    """Return where a number is drawn from: within its bounds where it is marked, else within what the trials
    span and a quarter as much on either side. The estimator draws from where it knows nothing if there is
    much of that."""
    from optuna.distributions import FloatDistribution, IntDistribution

    first = values[0]
    lowest, highest = min(value.value for value in values), max(value.value for value in values)
    if first.marked:
        low, high = min(first.marked.low, lowest), max(first.marked.high, highest)
        return (
            IntDistribution(int(low), int(high), log=first.marked.log and low >= 1)
            if first.whole
            else FloatDistribution(low, high, log=first.marked.log and low > 0)
        )
    room = max((highest - lowest) / 4, 0.2 * max(abs(lowest), abs(highest)))
    if first.whole:
        room = max(1, round(room))
        return IntDistribution(
            max(round(lowest) - room, -int(LONGEST)), min(round(highest) + room, int(LONGEST))
        )
    room = room or 1.0
    return FloatDistribution(lowest - room, highest + room)
