"""Unsatisfiable formulas only: refuting, a blend of the time of all and the worst; a long proof costs too."""

import math

from evolake.objectives.family import Family
from evolake.solvers.objectives.families.runs import WORST, log_cost, mean, of_status, read_runs

FAMILY = Family(
    "unsatisfiable formulas", "log cost of unsatisfiable formulas, the worst at {WORST_SHARE}, proofs at {PROOF_WEIGHT}",
    ranges={"FLOOR": (0.01, 0.5), "WORST_SHARE": (0.0, 0.5), "PROOF_WEIGHT": (0.0, 0.2)}, order=6,
)

FLOOR = 0.1
WORST_SHARE = 0.2
PROOF_WEIGHT = 0.05


def objective(results):
    """Mean log cost, blended with the largest, plus a little of the mean log proof size in MB."""
    runs = of_status(read_runs(results), "UNSAT")
    if not runs:
        return WORST
    costs = [log_cost(run, FLOOR) for run in runs]
    sizes = [math.log(1.0 + (run.get("proof_bytes") or 0) / 1e6) for run in runs]
    return (1.0 - WORST_SHARE) * mean(costs) + WORST_SHARE * max(costs) + PROOF_WEIGHT * mean(sizes)
