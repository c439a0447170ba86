"""All families alike: a family of many formulas weighs no more than one of few, and the weakest family weighs most."""

import math

from evolake.objectives.family import Family
from evolake.solvers.objectives.families.runs import WORST, grouped, log_cost, mean, read_runs

FAMILY = Family(
    "the weakest family", "smooth maximum (sharpness {SHARPNESS}) of the families' mean log costs",
    ranges={"FLOOR": (0.01, 0.5), "SHARPNESS": (0.2, 4.0)}, order=7,
)

FLOOR = 0.1
SHARPNESS = 1.0


def objective(results):
    """Smooth maximum over families of their mean log cost."""
    values = [mean([log_cost(run, FLOOR) for run in runs]) for runs in grouped(read_runs(results), lambda run: run.get("family"))]
    if not values:
        return WORST
    top = max(values)
    return top + math.log(mean([math.exp(SHARPNESS * (value - top)) for value in values])) / SHARPNESS
