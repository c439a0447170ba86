"""The worst runs: what the slowest share of the formulas costs on average."""

import math

from evolake.objectives.family import Family
from evolake.solvers.objectives.families.runs import WORST, mean, penalised, read_runs

FAMILY = Family(
    "the slowest formulas", "mean cost of the slowest {SHARE} of the runs, unsolved at {PENALTY} timeouts",
    ranges={"SHARE": (0.1, 0.5), "PENALTY": (2.0, 5.0)}, order=3,
)

SHARE = 0.25
PENALTY = 3.0


def objective(results):
    """Mean cost of the slowest share of the runs."""
    costs = sorted((penalised(run, PENALTY) for run in read_runs(results)), reverse=True)
    return mean(costs[: max(1, math.ceil(SHARE * len(costs)))]) if costs else WORST
