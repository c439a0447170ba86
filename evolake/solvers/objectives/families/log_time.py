"""Mean log time: a factor saved on a quick formula is worth as much as on a slow one."""

from evolake.objectives.family import Family
from evolake.solvers.objectives.families.runs import WORST, log_cost, mean, read_runs

FAMILY = Family(
    "the factor saved on every formula", "mean log of cost + {FLOOR} s, unsolved at {PENALTY} timeouts",
    ranges={"FLOOR": (0.01, 0.5), "PENALTY": (2.0, 10.0)}, order=2,
)

FLOOR = 0.1
PENALTY = 2.0


def objective(results):
    """Mean log of cost plus the floor."""
    runs = read_runs(results)
    return mean([log_cost(run, FLOOR, PENALTY) for run in runs]) if runs else WORST
