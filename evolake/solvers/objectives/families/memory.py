"""Memory: the peak of each run, with the share of unsolved runs on top so that doing nothing is not thrifty."""

import math

from evolake.objectives.family import Family
from evolake.solvers.objectives.families.runs import WORST, mean, read_runs

FAMILY = Family(
    "memory", "log peak memory, the largest at {MAX_SHARE}, unsolved runs at {UNSOLVED_WEIGHT}",
    ranges={"MAX_SHARE": (0.0, 0.6), "UNSOLVED_WEIGHT": (2.0, 8.0)}, order=8,
)

MAX_SHARE = 0.3
UNSOLVED_WEIGHT = 4.0


def objective(results):
    """Mean log MB, blended with the largest; each unsolved run adds."""
    runs = read_runs(results)
    peaks = [math.log(max(float(run.get("peak_mb") or 0.0), 1.0)) for run in runs]
    if not peaks:
        return WORST
    unsolved = mean([0.0 if run.get("solved") else 1.0 for run in runs])
    return (1.0 - MAX_SHARE) * mean(peaks) + MAX_SHARE * max(peaks) + UNSOLVED_WEIGHT * unsolved
