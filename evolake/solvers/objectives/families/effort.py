"""Search effort: conflicts, a counter that no other process on the host can disturb. How fast they are worked off is not asked."""

import math

from evolake.solvers.objectives.families.runs import WORST, mean, read_runs

UNSOLVED_FACTOR = 4.0
DECISION_SHARE = 0.0


def objective(results):
    """Mean log conflicts with a share of log decisions; an unsolved run counts as some times the most conflicts of any run, at least 10000."""
    runs = read_runs(results)
    if not runs:
        return WORST
    counted = [run for run in runs if run.get("conflicts") is not None]
    if not any(run.get("solved") for run in counted):
        raise ValueError("no solved run says how many conflicts it took")
    ceiling = UNSOLVED_FACTOR * max(10000.0, max(float(run["conflicts"]) for run in counted))
    values = []
    for run in runs:
        if not run.get("solved") or run.get("conflicts") is None:
            values.append(math.log(ceiling))
            continue
        decisions = run.get("decisions")
        conflicts = math.log(1.0 + float(run["conflicts"]))
        values.append((1.0 - DECISION_SHARE) * conflicts + DECISION_SHARE * (conflicts if decisions is None else math.log(1.0 + float(decisions))))
    return mean(values)
