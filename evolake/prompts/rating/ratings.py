"""Ratings of system prompts: TrueSkill, and what a child inherits (E-SPL, section 3.2 and appendix B).

Mean rewards of two iterations cannot be compared, since the batch and the weights differ; their order within
one iteration can. So every iteration is a match of the prompts that took part, and a rating is a normal
distribution over competence. The rating system is the package `trueskill` with its own defaults. Only its
correction terms are replaced where they leave the range of floats: a winner that was rated far below a loser
makes the package raise, and the limit of the terms is known (Mills' ratio).

The paper's Algorithm 1 adds 1 to the sigma of a mutated child; its appendix adds the variances, and that is
what holds here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

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
