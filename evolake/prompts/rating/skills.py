"""Estimate the skill of every prompt from the mean rewards of all matches together.

A rating by ranks (`ratings`) loses three things: by how much a match was won, how many replies it rests on,
and that a child is like its parent. A child that inherits mu with little more sigma counts as known before it
met anybody, so mu rises from generation to generation and a late prompt with a flaw passes an early one
without. Here the skill of a prompt is a share of the reward:

    skill(root)      ~ N(0, ROOT_DEVIATION^2)
    skill(mutant)    = skill(parent) + N(0, EDIT_DEVIATION^2);  a crossed child: of the mean of its parents
    mean reward      = what this batch and these weights are worth to all + skill + noise of its replies

All of it is Gaussian, so the joint posterior is one system of linear equations: a Kalman smoother over the
tree of prompts. What a batch and the weights are worth is unknown, so only differences within a match count,
as in E-SPL. An old match counts less, since weights that learn change what a principle is worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

ROOT_DEVIATION = 0.5
EDIT_DEVIATION = 0.25
"""How far one edit moves the mean reward, as a standard deviation; most move it little and some by half."""
DRIFT = 0.02
"""How far a skill moves in one match, as a standard deviation."""
BATCH_DEVIATION = 10.0
"""Of what a batch is worth: so large that only differences within it count."""
LEAST_VARIANCE = 0.09
"""Of one reply's reward, from a share of .1 or .9 on: five right replies of five say nothing of the noise."""
MOST_MATCHES = 100
"""Matches that count, the latest: the deviation that `DRIFT` adds to older ones is a fifth of the reward."""
Result = tuple[int, float, int]
"""(number of the prompt, its mean reward, replies that this is the mean of)."""
Match = Sequence[Result]


@dataclass(frozen=True)
class Skills:
    """The joint posterior. numbers: of the prompts, in the order of the rest. mean: (n,). covariance: (n,
    n)."""

    numbers: tuple[int, ...]
    mean: np.ndarray
    covariance: np.ndarray

    def of(self, number: int) -> tuple[float, float]:
        """Return mean and standard deviation of one prompt's skill. Raises ValueError when there is none of
        that number."""
        place = self.numbers.index(number)
        return float(self.mean[place]), float(self.covariance[place, place]) ** 0.5

    def over(self, number: int, other: int) -> tuple[float, float]:
        """Return mean and standard deviation of the difference of two prompts' skills. Raises ValueError as
        `of` does."""
        ours, theirs = self.numbers.index(number), self.numbers.index(other)
        within = self.covariance[np.ix_([ours, theirs], [ours, theirs])]
        variance = float(within[0, 0] + within[1, 1] - 2 * within[0, 1])
        return float(self.mean[ours] - self.mean[theirs]), max(variance, 0.0) ** 0.5

    def best(self, numbers: Sequence[int]) -> int:
        """Return the prompt with the highest mean of these; of equal ones the youngest. Raises ValueError for
        none."""
        return max(numbers, key=lambda number: (round(self.of(number)[0], 9), number))

    def draw(self, numbers: Sequence[int], count: int, random: np.random.Generator) -> list[int]:
        """Return `count` of these prompts, no prompt twice: each is the best of one draw from the posterior
        (Thompson sampling), so a prompt is chosen as often as it may be the best one."""
        places = [self.numbers.index(number) for number in numbers]
        within = self.covariance[np.ix_(places, places)] + 1e-12 * np.eye(len(places))
        factor = np.linalg.cholesky(within)
        left, chosen = list(range(len(places))), []
        while left and len(chosen) < count:
            drawn = self.mean[places] + factor @ random.standard_normal(len(places))
            chosen.append(max(left, key=lambda place: drawn[place]))
            left.remove(chosen[-1])
        return [numbers[place] for place in chosen]


def estimate_skills(parents: Mapping[int, Sequence[int]], matches: Sequence[Match]) -> Skills:
    """Return the posterior of all prompts.

    Args:
        parents: number of a prompt -> numbers of its parents, none for a root; every parent is there, with a
            lower number than its child.
        matches: the oldest first; prompts that are not in `parents` are left out.

    Raises:
        ValueError: a parent is missing or younger than its child.
    """
    numbers = tuple(sorted(parents))
    place = {number: index for index, number in enumerate(numbers)}
    prior = _prior(numbers, place, parents)
    rows = [
        (turn, place[number], mean, replies, age)
        for turn, (age, match) in enumerate(zip(range(len(matches) - 1, -1, -1), matches, strict=True))
        for number, mean, replies in match
        if number in place and replies > 0
    ]
    if not rows:
        return Skills(numbers, np.zeros(len(numbers)), prior)
    turns, places, means, replies, ages = (np.array(column) for column in zip(*rows, strict=True))
    noise = np.maximum(means * (1 - means), LEAST_VARIANCE) / replies + DRIFT**2 * ages
    total = (
        prior[np.ix_(places, places)]
        + BATCH_DEVIATION**2 * (turns[:, None] == turns[None, :])
        + np.diag(noise)
    )
    gain = np.linalg.solve(total, prior[places]).T
    return Skills(numbers, gain @ (means - means.mean()), prior - gain @ prior[places])


def _prior(
    numbers: Sequence[int], place: Mapping[int, int], parents: Mapping[int, Sequence[int]]
) -> np.ndarray:
    """Return the covariance of all skills before any match."""
    result = np.zeros((len(numbers), len(numbers)))
    for index, number in enumerate(numbers):
        ours = [place.get(parent, index) for parent in parents[number]]
        if any(parent >= index for parent in ours):
            raise ValueError(
                f"a parent of prompt {number} is missing or younger than it (parents: "
                f"{list(parents[number])})"
            )
        if not ours:
            result[index, index] = ROOT_DEVIATION**2
            continue
        shared = result[ours].mean(axis=0)
        result[index], result[:, index] = shared, shared
        result[index, index] = float(result[np.ix_(ours, ours)].mean()) + EDIT_DEVIATION**2
    return result
