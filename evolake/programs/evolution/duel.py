"""Champion and challenger side by side, under seeds that the search never had; the title changes beyond the measured noise alone.

The noise is measured there and then: the champion is evaluated twice under each seed, and what 95% of these pairs stay within is the floor. Where the
evaluator is deterministic the floor is 0, and a better score is a better program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from evolake.programs.sandbox.evaluating import Evaluation
from evolake.stats import bootstrap_interval

LEVEL = 0.95
Scores = Mapping[str, Sequence[float | None]]
"""side -> score under each seed, such that higher is better; None where an evaluation gave none."""

SIDES = ("champion", "again", "challenger", "initial")


def sides_of(champion: str, challenger: str | None, initial: str) -> dict[str, str]:
    """side -> program that is evaluated for it. The initial program, where it is champion itself, is not evaluated a third time."""
    result = {"champion": champion, "again": champion}
    if challenger is not None:
        result["challenger"] = challenger
    if initial != champion:
        result["initial"] = initial
    return result


def measure(
    sides: Mapping[str, str], seeds: Sequence[int], evaluate: Callable[[str, int], Evaluation], *,
    held: Mapping[int, Mapping[str, Evaluation]] | None = None, note: Callable[[int, dict[str, Evaluation]], None] = lambda seed, done: None,
) -> dict[str, list[Evaluation]]:
    """side -> its evaluations. Sides take turns under each seed, the first of them another one each time, so that a drift of the machine hits all.

    Args:
        held: seed -> side -> evaluation, of seeds that were done before. note: told of a seed as soon as all sides are done under it.
    """
    result: dict[str, list[Evaluation]] = {side: [] for side in sides}
    names = list(sides)
    for place, seed in enumerate(seeds):
        done = dict((held or {}).get(seed, {}))
        if set(done) != set(names):
            done = {side: evaluate(sides[side], seed) for side in names[place % len(names) :] + names[: place % len(names)]}
            note(seed, done)
        for side in names:
            result[side].append(done[side])
    return result


def noise_of(scores: Scores) -> float:
    """What 95% of pairs of evaluations of the champion under one seed stay within, in the score's unit; 0 where no pair is whole."""
    gaps = [abs(first - other) for first, other in zip(scores["champion"], scores["again"], strict=True) if first is not None and other is not None]
    return float(np.quantile(gaps, LEVEL)) if gaps else 0.0


def decide(scores: Scores, random: np.random.Generator) -> dict[str, Any]:
    """Columns of DECISIONS: wins, pairs, difference, low, high, noise, reason."""
    noise = noise_of(scores)
    held = {"wins": False, "pairs": 0, "difference": None, "low": None, "high": None, "noise": noise}
    if "challenger" not in scores:
        return held | {"reason": "there is no other program"}
    if failed := sum(score is None for score in scores["challenger"]):
        return held | {"reason": f"the challenger fails under {failed} of {len(scores['challenger'])} held-out seeds"}
    champion = [score if score is not None else again for score, again in zip(scores["champion"], scores["again"], strict=True)]
    pairs = [(first, other) for first, other in zip(scores["challenger"], champion, strict=True) if first is not None and other is not None]
    if len(pairs) < len(champion):  # it failed twice under one seed: no chance of the machine's
        why = f"the champion fails twice under {len(champion) - len(pairs)} held-out seeds, the challenger under none"
        return held | {"wins": True, "pairs": len(pairs), "reason": why}
    gap = bootstrap_interval([first - other for first, other in pairs], random)
    wins = gap.low > 0 and gap.estimate > noise
    said = f"better by {gap.estimate:.4g} ({gap.low:.4g} to {gap.high:.4g}) on {len(pairs)} held-out seeds, noise floor {noise:.3g}"
    return held | {
        "wins": wins, "pairs": len(pairs), "difference": gap.estimate, "low": gap.low, "high": gap.high,
        "reason": said if wins else f"not beyond the noise: {said}",
    }
