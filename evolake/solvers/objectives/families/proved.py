"""Proved answers: only what a checked model or a verified proof stands behind counts, weighed by how hard the formula was to finish in time."""

from evolake.objectives.family import Family
from evolake.solvers.objectives.families.runs import WORST, mean, penalised, read_runs

FAMILY = Family(
    "answers that are proved", "share of the limit used up to the {POWER}, an unchecked answer worth {UNCHECKED} of a failure",
    ranges={"UNCHECKED": (0.1, 0.9), "POWER": (0.5, 1.5)}, order=11,
)

UNCHECKED = 0.5
POWER = 1.0


def objective(results):
    """Mean loss in 0..1: the share of the penalised limit used up, of a proved run; blended with 1 by UNCHECKED for an answer nobody checked."""
    losses = []
    for run in read_runs(results):
        used = min(penalised(run) / (2.0 * run["timeout_s"]), 10.0) ** POWER
        proved = run.get("certificate") in ("model", "proof")
        losses.append(used if proved or not run.get("solved") else UNCHECKED + (1.0 - UNCHECKED) * used)
    return mean(losses) if losses else WORST
