"""Who is champion: the best-rated prompt against the champion, on the same problems under the same weights.

Ratings compare prompts of different iterations through a chain of matches; the champion changes only where the two, side by side on problems of the
training split, differ by more than the draw of problems explains: the bootstrap interval of the mean difference, over problems, lies above zero.
Held-out problems take no part, so that what is reported of them stays a report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evolake.stats.bootstrap import bootstrap_interval

LEVEL = 0.95


def decide(
    champion_id: str, challenger_id: str, correct: Mapping[tuple[str, str], Sequence[bool]], rng: np.random.Generator, *, cycle: str,
) -> dict[str, Any]:
    """A row of DECISIONS.

    Args:
        correct: (prompt id, problem id) -> whether each of its replies was correct; the same problems, as often, for both prompts.

    Raises:
        ValueError: the two did not answer the same problems equally often, or none.
    """
    problems = sorted(problem for prompt, problem in correct if prompt == champion_id)
    ours, theirs = ([correct[prompt, problem] for problem in problems] for prompt in (challenger_id, champion_id))
    if not problems or [len(result) for result in ours] != [len(result) for result in theirs] or len(correct) != 2 * len(problems):
        raise ValueError("a duel needs the same problems, equally often, for both prompts")
    shares = [np.array([np.mean(result) for result in side], dtype=np.float64) for side in (ours, theirs)]
    differences = shares[0] - shares[1]
    interval = bootstrap_interval(differences, rng, level=LEVEL)
    low, high = interval.low, interval.high
    wins = low > 0
    gained = f"{float(differences.mean()):+.3f} correct a reply, 95% interval {low:+.3f} to {high:+.3f}"
    return {
        "cycle": cycle, "champion_id": champion_id, "challenger_id": challenger_id, "wins": wins, "problems": len(problems),
        "samples": sum(len(result) for result in ours), "champion_share": float(shares[1].mean()), "challenger_share": float(shares[0].mean()),
        "difference": float(differences.mean()), "low": low, "high": high,
        "reason": gained if wins else f"{gained}: no gain beyond the noise",
    }
