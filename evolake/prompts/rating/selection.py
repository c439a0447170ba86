"""Which prompts take part in an iteration (E-SPL, section 3.2, equation 4, and the simplified strategy of its
appendix A.5).

Only the latest K prompts may be drawn, like a replay buffer. Of these the one with the highest mu + 2 sigma
always takes part and the rest are drawn uniformly; with a temperature all are drawn in proportion to
exp(score / T) instead. A fresh child inherits mu with more sigma, so it tends to lead.

`select_by_skill` draws by the estimate of `skills` instead: `python benchmarks/prompts_selection.py` compares
the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from evolake.prompts.rating.ratings import OPTIMISM, Rating, score
from evolake.prompts.rating.skills import Skills

T = TypeVar("T")


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


def select_by_skill(
    entrants: Sequence[Entrant], skills: Skills, count: int, random: np.random.Generator, *, window: int = 10
) -> list[Entrant]:
    """Return the prompts of one iteration, drawn as often as each may be the best of the window; no prompt
    twice."""
    pool = {item.number: item for item in latest(entrants, window)}
    return [pool[number] for number in skills.draw(list(pool), count, random)]


def slots(chosen: Sequence[T], count: int) -> list[T]:
    """Return `count` places for these, in turn: a population of fewer prompts than M still costs M groups of
    rollouts a problem, like every iteration."""
    return [chosen[place % len(chosen)] for place in range(count)]


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
