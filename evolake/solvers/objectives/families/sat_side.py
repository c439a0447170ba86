"""Satisfiable formulas only: finding models, a blend of the time of all and the worst."""

from evolake.objectives.family import Family
from evolake.solvers.objectives.families.runs import WORST, log_cost, mean, of_status, read_runs

FAMILY = Family(
    "satisfiable formulas", "log cost of satisfiable formulas, the worst at {WORST_SHARE}, floor {FLOOR} s",
    ranges={"FLOOR": (0.01, 0.5), "WORST_SHARE": (0.0, 0.5)}, order=5,
)

FLOOR = 0.1
WORST_SHARE = 0.2


def objective(results):
    """Mean log cost, blended with the largest."""
    costs = [log_cost(run, FLOOR) for run in of_status(read_runs(results), "SAT")]
    return (1.0 - WORST_SHARE) * mean(costs) + WORST_SHARE * max(costs) if costs else WORST
