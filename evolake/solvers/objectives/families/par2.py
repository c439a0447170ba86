"""Penalised average runtime: the SAT competition's own measure, with a drawn penalty."""

from evolake.objectives.family import Family
from evolake.solvers.objectives.families.runs import WORST, mean, penalised, read_runs

FAMILY = Family("the average cost", "mean cost, an unsolved run counted {PENALTY} times the timeout", ranges={"PENALTY": (2.0, 10.0)}, order=1)

PENALTY = 2.0


def objective(results):
    """Mean cost in seconds."""
    runs = read_runs(results)
    return mean([penalised(run, PENALTY) for run in runs]) if runs else WORST
