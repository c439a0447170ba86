"""Rate prompts by what their replies were worth, and select those that take part in an iteration.

`Rating` is TrueSkill, with what a child inherits (E-SPL, section 3.2 and appendix B). Mean rewards of two
iterations cannot be compared, since the batch and the weights differ; their order within one iteration can.
So every iteration is a match, and a rating is a normal distribution over competence. The package `trueskill`
computes it with its own defaults; its correction terms are replaced where they leave the range of floats, by
their known limit (Mills' ratio). The paper's Algorithm 1 adds 1 to the sigma of a mutated child; its appendix
adds the variances, and that is what holds here.

A rating by ranks loses by how much a match was won, how many replies it rests on, and that a child is like
its parent: mu rises from generation to generation, and a late prompt with a flaw passes an early one without.
So skills are estimated too, from the mean rewards of all matches at the same time, as shares of the reward:

    skill(prompt)            ~ N(0, DEVIATION^2)
    correlation of two       = LIKENESS^(principles that only one of them has)
    mean reward in a match   = worth of this batch and these weights + skill + noise of its replies

All of it is Gaussian, so the joint posterior is one system of linear equations. The prior is a product over
principles: what one did in a prompt is expected of it in similar ones, and two may do together what neither
does alone. Only differences within a match count, and an old match counts less, since weights that learn
change what a principle is worth. All prompts of a match answer the same problems, so the noise of a reply is
what is left when the means of problems and of prompts are taken out.

Selection of the paper: only the latest K prompts may be drawn, like a replay buffer (equation 4, and the
simplified strategy of appendix A.5). Of these the one with the highest mu + 2 sigma always takes part and the
rest are drawn uniformly; with a temperature all are drawn in proportion to exp(score / T). A fresh child
inherits mu with more sigma, so it tends to lead. Selection by skills: `evolution.stepwise`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

MU = 25.0
SIGMA = 25.0 / 3.0
BETA = 25.0 / 6.0
TAU = 25.0 / 300.0
DRAW_PROBABILITY = 0.10
OPTIMISM = 2.0
"""lambda: how many sigmas the selection score adds to mu."""
CHILD_SIGMA = 1.0
"""How much uncertainty an edit adds, as a standard deviation."""
TAIL = -30.0
"""Below this argument the truncated normal is replaced by its asymptote; the two agree to 1e-6 there."""
Rating = tuple[float, float]
"""(mu, sigma)."""


def update(ratings: Sequence[Rating], ranks: Sequence[int]) -> list[Rating]:
    """Return the ratings after one match.

    Args:
        ratings: (mu, sigma) of each prompt that took part, sigma above 0.
        ranks: one per prompt; lower is better, equal ranks are a draw.

    Returns:
        (mu, sigma) in the same order. One prompt alone has had no match: its rating stays as it is.

    Raises:
        ValueError: not as many ranks as ratings, or a rating that is not finite with a positive sigma.
    """
    if len(ratings) != len(ranks):
        raise ValueError(f"{len(ratings)} ratings and {len(ranks)} ranks: there must be as many")
    for mu, sigma in ratings:
        if not (math.isfinite(mu) and math.isfinite(sigma) and sigma > 0):
            raise ValueError(f"a rating is a finite mu and a finite sigma above 0 (got {mu}, {sigma})")
    if len(ratings) < 2:
        return [(float(mu), float(sigma)) for mu, sigma in ratings]
    system = _system()
    groups = [(system.create_rating(mu, sigma),) for mu, sigma in ratings]
    return [(float(item.mu), float(item.sigma)) for (item,) in system.rate(groups, ranks=list(ranks))]


def ranks_of(means: Sequence[float]) -> list[int]:
    """Return ranks by mean reward: 0 for the highest, equal means share a rank. Means count as equal to nine
    digits, far below one reward in a batch."""
    rounded = [round(mean, 9) for mean in means]
    order = sorted(set(rounded), reverse=True)
    return [order.index(mean) for mean in rounded]


def score(rating: Rating, optimism: float = OPTIMISM) -> float:
    """Return the upper confidence estimate that selection goes by: mu + lambda sigma."""
    return rating[0] + optimism * rating[1]


def mutated(parent: Rating, uncertainty: float = CHILD_SIGMA) -> Rating:
    """Return what a child by mutation starts from: its parent's mu, and sqrt(sigma^2 + uncertainty^2)."""
    return parent[0], math.hypot(parent[1], uncertainty)


def crossed(parents: Sequence[Rating], uncertainty: float = CHILD_SIGMA) -> Rating:
    """Return what a child by crossover starts from: the mean of its parents by precision, and sqrt(1 / sum(1
    / sigma^2) + uncertainty^2).

    Raises:
        ValueError: there are no parents.
    """
    if not parents:
        raise ValueError("a crossover needs parents")
    precision = math.fsum(1.0 / sigma**2 for _, sigma in parents)
    return math.fsum(mu / sigma**2 for mu, sigma in parents) / precision, math.hypot(
        math.sqrt(1.0 / precision), uncertainty
    )


def shares(parents: Sequence[Rating]) -> list[float]:
    """Return how much each parent counts in `crossed`; they add up to 1."""
    precision = math.fsum(1.0 / sigma**2 for _, sigma in parents)
    return [1.0 / sigma**2 / precision for _, sigma in parents]


@cache
def _system() -> Any:
    from trueskill import TrueSkill

    class Steady(TrueSkill):
        """TrueSkill whose terms v and w hold for any difference of performance."""

        def v_win(self, diff: float, draw_margin: float) -> Any:
            x = diff - draw_margin
            return super().v_win(diff, draw_margin) if x > TAIL else _mills(x)

        def w_win(self, diff: float, draw_margin: float) -> Any:
            x = diff - draw_margin
            if x <= TAIL:
                return 1.0 - 1.0 / x**2
            v = self.v_win(diff, draw_margin)
            return min(max(v * (v + x), 0.0), 1.0)

        def v_draw(self, diff: float, draw_margin: float) -> Any:
            x = draw_margin - abs(diff)
            return super().v_draw(diff, draw_margin) if x > TAIL else math.copysign(_mills(x), -diff)

        def w_draw(self, diff: float, draw_margin: float) -> Any:
            x = draw_margin - abs(diff)
            return super().w_draw(diff, draw_margin) if x > TAIL else 1.0 - 1.0 / x**2

    return Steady(mu=MU, sigma=SIGMA, beta=BETA, tau=TAU, draw_probability=DRAW_PROBABILITY)


def _mills(x: float) -> float:
    """pdf(x) / cdf(x) far in the lower tail, to the second term of its expansion."""
    return -x - 1.0 / x


DEVIATION = 0.5
LIKENESS = 0.875
"""Correlation of prompts that differ by one principle: it moves the mean reward by .25, as a standard
deviation; most move it little and some by half."""
DRIFT = 0.02
"""How far a skill moves in one match, as a standard deviation."""
BATCH_DEVIATION = 10.0
"""Of what a batch is worth: so large that only differences within it count."""
LEAST_VARIANCE = 0.09
"""Of one reply's reward, from a share of .1 or .9 on: five right replies of five say nothing of the noise."""
PRIOR_FREEDOM = 8
"""Degrees of freedom that the variance of independent replies counts for, where that of the match is
estimated."""
MOST_MATCHES = 100
"""Matches that count, the latest: the deviation that `DRIFT` adds to older ones is a fifth of the reward."""
Result = Sequence[float]
"""Number of the prompt, its mean reward, replies that this is the mean of, and the variance of one of them;
without the last one, that of independent replies."""
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

    def leaders(self, numbers: Sequence[int], draws: int, random: np.random.Generator) -> list[int]:
        """Return which of these are best in one of `draws` samples of the posterior (Thompson sampling), most
        often first: as many as may be the best."""
        places = [self.numbers.index(number) for number in numbers]
        within = self.covariance[np.ix_(places, places)] + 1e-9 * np.eye(len(places))
        drawn = (
            self.mean[places] + random.standard_normal((draws, len(places))) @ np.linalg.cholesky(within).T
        )
        return [numbers[place] for place, _ in Counter(drawn.argmax(axis=1).tolist()).most_common()]


def estimate_skills(prompts: Mapping[int, Collection[str]], matches: Sequence[Match]) -> Skills:
    """Return the posterior of all prompts.

    Args:
        prompts: number of a prompt -> the texts of its principles.
        matches: the oldest first; prompts that are not in `prompts` are left out.
    """
    numbers = tuple(sorted(prompts))
    place = {number: index for index, number in enumerate(numbers)}
    texts = {text: index for index, text in enumerate(sorted(set().union(*prompts.values())))}
    held = np.zeros((len(numbers), len(texts)))
    for number in numbers:
        held[place[number], [texts[text] for text in prompts[number]]] = 1.0
    differing = held @ (1.0 - held.T)
    prior = DEVIATION**2 * LIKENESS ** (differing + differing.T)
    rows = [
        (turn, place[int(number)], mean, (*variance, _independent(mean))[0] / replies, age)
        for turn, (age, match) in enumerate(zip(range(len(matches) - 1, -1, -1), matches, strict=True))
        for number, mean, replies, *variance in match
        if number in place and replies > 0
    ]
    if not rows:
        return Skills(numbers, np.zeros(len(numbers)), prior)
    turns, places, means, noise, ages = (np.array(column) for column in zip(*rows, strict=True))
    total = (
        prior[np.ix_(places, places)]
        + BATCH_DEVIATION**2 * (turns[:, None] == turns[None, :])
        + np.diag(noise + DRIFT**2 * ages)
    )
    gain = np.linalg.solve(total, prior[places]).T
    return Skills(numbers, gain @ (means - means.mean()), prior - gain @ prior[places])


def match_variance(values: np.ndarray, replies: float) -> float:
    """Return the variance of one reply in a match, between that of independent replies and what is left when
    the means of prompts and problems are taken out.

    Args:
        values: (prompts, problems), mean rewards. replies: of each of them, on average.
    """
    independent = float(np.mean([_independent(mean) for mean in values.mean(axis=1)]))
    left = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    freedom = (values.shape[0] - 1) * (values.shape[1] - 1)
    return (PRIOR_FREEDOM * independent + replies * float((left**2).sum())) / (PRIOR_FREEDOM + freedom)


def _independent(mean: float) -> float:
    """Return the variance of one of several independent replies."""
    return max(mean * (1 - mean), LEAST_VARIANCE)


@dataclass(frozen=True)
class Entrant:
    """A prompt that may be selected, in the order of birth. number: its place in that order."""

    prompt_id: str
    number: int
    rating: Rating


def latest(entrants: Sequence[Entrant], window: int) -> list[Entrant]:
    """Return the `window` youngest, oldest of them first."""
    if window < 1:
        raise ValueError(f"a window holds one prompt at least (got {window})")
    return sorted(entrants, key=lambda item: item.number)[-window:]


def leader(entrants: Sequence[Entrant], optimism: float = OPTIMISM) -> Entrant:
    """Return the one with the highest score; of equal ones the youngest."""
    return max(entrants, key=lambda item: (score(item.rating, optimism), item.number))


def select(
    entrants: Sequence[Entrant],
    count: int,
    random: np.random.Generator,
    *,
    window: int = 10,
    optimism: float = OPTIMISM,
    temperature: float | None = None,
) -> list[Entrant]:
    """Return the prompts of one iteration, no prompt twice.

    Args:
        entrants: all that there are. count: M; fewer come where the window holds fewer.
        temperature: T of equation 4; None takes the leader and draws the rest uniformly.

    Returns:
        The leader first and the others as drawn; with a temperature, all as drawn.

    Raises:
        ValueError: no entrants, a count or window below 1, or a temperature that is not above 0.
    """
    if not entrants or count < 1:
        raise ValueError(f"selection needs entrants and a count of 1 at least (got {len(entrants)}, {count})")
    pool = latest(entrants, window)
    if temperature is not None:
        return _softmax(pool, count, random, optimism, temperature)
    first = leader(pool, optimism)
    rest = [item for item in pool if item is not first]
    drawn = (
        random.choice(len(rest), size=min(count - 1, len(rest)), replace=False).tolist()
        if rest and count > 1
        else []
    )
    return [first, *(rest[place] for place in drawn)]


def _softmax(
    pool: list[Entrant], count: int, random: np.random.Generator, optimism: float, temperature: float
) -> list[Entrant]:
    """Without replacement, by adding Gumbel noise to score / T and taking the largest: exact, and no
    exponential can overflow."""
    if not temperature > 0:
        raise ValueError(f"a temperature is above 0 (got {temperature})")
    keys = np.array([score(item.rating, optimism) / temperature for item in pool]) + random.gumbel(
        size=len(pool)
    )
    return [pool[place] for place in np.argsort(-keys, kind="stable")[:count].tolist()]
