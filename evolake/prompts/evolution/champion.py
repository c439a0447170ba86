"""Select the champion: the best-rated prompt against the champion, on the same problems under the same
weights.

Ratings compare prompts of different iterations through a chain of matches; the champion changes only if the
two, side by side on problems of the training split, differ beyond the noise: `evolake.contest` flips the
signs of the differences of problems. Held-out problems take no part, so that what is reported of them stays a
report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evolake.contest import LEVEL, paired


def decide_champion(
    champion_id: str,
    challenger_id: str,
    correct: Mapping[tuple[str, str], Sequence[bool]],
    rng: np.random.Generator,
    *,
    cycle: str,
) -> dict[str, Any]:
    """Return a row of DECISIONS.

    Args:
        correct: (prompt id, problem id) -> whether each of its replies was correct; the same problems, as
            often, for both prompts.

    Raises:
        ValueError: the two did not answer the same problems equally often, or none.
    """
    problems = sorted(problem for prompt, problem in correct if prompt == champion_id)
    ours, theirs = (
        [correct[prompt, problem] for problem in problems] for prompt in (challenger_id, champion_id)
    )
    if (
        not problems
        or [len(result) for result in ours] != [len(result) for result in theirs]
        or len(correct) != 2 * len(problems)
    ):
        raise ValueError("a duel needs the same problems, equally often, for both prompts")
    shares = [np.array([np.mean(result) for result in side], dtype=np.float64) for side in (ours, theirs)]
    contest = paired(shares[0] - shares[1], rng)
    gained = (
        f"{contest.effect:+.3f} correct a reply on {contest.pairs} problems, {100 * LEVEL:g}% interval "
        f"{contest.low:+.3f} to {contest.high:+.3f}"
    )
    return {
        "cycle": cycle,
        "champion_id": champion_id,
        "challenger_id": challenger_id,
        "wins": contest.wins,
        "problems": len(problems),
        "samples": sum(len(result) for result in ours),
        "champion_share": float(shares[1].mean()),
        "challenger_share": float(shares[0].mean()),
        "difference": contest.effect,
        "low": contest.low,
        "high": contest.high,
        "reason": gained if contest.wins else f"{gained}: {contest.reason}",
        "test": contest.test,
    }
