"""Robust to luck: of a formula's shuffled copies and repetitions the worst counts, and their spread costs. Rewards no lucky first order."""

import math

from evolake.objectives.family import Family
from evolake.solvers.objectives.families.runs import WORST, grouped, log_cost, mean, read_runs

FAMILY = Family(
    "the spread over shuffled copies", "worst copy of a formula at {WORST_SHARE}, spread at {SPREAD}",
    ranges={"FLOOR": (0.01, 0.5), "WORST_SHARE": (0.2, 1.0), "SPREAD": (0.0, 1.0)}, order=10,
)

FLOOR = 0.1
WORST_SHARE = 0.5
SPREAD = 0.3


def objective(results):
    """Mean over formulas of the blend of mean and largest log cost among its copies, plus a share of their standard deviation."""
    values = []
    for runs in grouped(read_runs(results), lambda run: str(run.get("instance")).partition("~")[0]):
        costs = [log_cost(run, FLOOR) for run in runs]
        centre = mean(costs)
        deviation = math.sqrt(mean([(cost - centre) ** 2 for cost in costs]))
        values.append((1.0 - WORST_SHARE) * centre + WORST_SHARE * max(costs) + SPREAD * deviation)
    return mean(values) if values else WORST
