"""The gain of a program over the initial program of its project, from held-out scores under the same
seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping

from evolake.contest import LEVEL, paired
from evolake.report.gain import Gain, counted
from evolake.seeds import generator
from evolake.stats import Interval

LINE = "programs"
LARGEST_LOG = 700.0


def gain_between(
    own: Mapping[int, float],
    initial: Mapping[int, float],
    *,
    project: str,
    score_name: str,
    higher_is_better: bool,
    protected: bool,
    initial_id: str,
    cycle: str,
) -> Gain | None:
    """Return the gain; None if a ratio says nothing: no seed is common to both, or a score is not positive.

    own, initial: seed -> score of the program, and of the initial program.
    """
    seeds = sorted(set(own) & set(initial))
    if not seeds or min(*(own[seed] for seed in seeds), *(initial[seed] for seed in seeds)) <= 0:
        return None
    pairs = [own[seed] for seed in seeds], [initial[seed] for seed in seeds]
    first, second = pairs if higher_is_better else (pairs[1], pairs[0])
    contest = paired(
        [math.log(one / another) for one, another in zip(first, second, strict=True)],
        generator(0, LINE, cycle, "gain"),
    )
    middle, low, high = (
        math.exp(min(value, LARGEST_LOG)) for value in (contest.effect, contest.low, contest.high)
    )
    guard = "" if protected else "; score not protected"
    return Gain(
        Interval(middle, low, high, LEVEL),
        f"{'higher' if higher_is_better else 'lower'} {score_name}",
        initial_id,
        f"on {len(seeds)} held-out seeds of project {project}{guard}",
        cycle,
        contest.wins,
        against="the initial program",
        own=sum(pairs[0]) / len(seeds),
        other=sum(pairs[1]) / len(seeds),
        count=counted(len(seeds), "seed"),
    )
