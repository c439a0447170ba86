"""Penalised average runtime: the SAT competition's own measure, with a drawn penalty."""

from evolake.solvers.objectives.families.runs import WORST, mean, penalised, read_runs

PENALTY = 2.0


def objective(results):
    """Mean cost in seconds."""
    runs = read_runs(results)
    return mean([penalised(run, PENALTY) for run in runs]) if runs else WORST
