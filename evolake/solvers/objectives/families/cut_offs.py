"""Solved at cut-offs: how many formulas are done by each of a row of shares of the timeout, a step a count."""

from evolake.objectives.family import Family
from evolake.solvers.objectives.families.runs import mean

FAMILY = Family(
    "how many are solved by when", "solved at {STEPS} cut-offs a factor {RATIO} apart, weights {EARLY}**step", choices={"STEPS": (3, 4, 5, 6, 8)},
    ranges={"RATIO": (1.5, 4.0), "EARLY": (0.5, 1.5)}, order=4,
)

STEPS = 5
RATIO = 2.0
EARLY = 1.0


def objective(runs):
    """Minus the weighted share of runs solved by timeout * RATIO**-i for i = 0, 1, ...; step i weighs EARLY**i. Ties go by the mean time."""
    total = 0.0
    weights = 0.0
    for step in range(STEPS):
        limit = RATIO**-step
        done = sum(1 for run in runs if run.get("solved") and run["cpu_s"] <= limit * run["timeout_s"])
        total += EARLY**step * done / len(runs)
        weights += EARLY**step
    wrong = sum(1 for run in runs if run.get("status") == "wrong")
    return wrong - total / weights + 1e-6 * mean([min(run["cpu_s"] / run["timeout_s"], 1.0) for run in runs])
