"""Helpers that objective families share: reading results level by level, the schedule's budget, fits in log-log.

Success is binary: a level with unsolved_fraction below one half is solved, and 0.49 is as good as 0.
"""

import math

import numpy as np

WORST = 1e9


def read_levels(experiment_results):
    """Levels in ascending size, one dict a size: n, steps, solved, unsolved, max_steps, batch.

    Rows in any order; rows without a usable size or step count are left out. Of several rows of a size the solved ones count, by their geometric
    mean; if none is solved, the one with the largest budget.
    """
    by_size = {}
    for row in experiment_results:
        try:
            n = float(row["N"])
            steps = float(row["median_step"])
            unsolved = float(row["unsolved_fraction"])
            max_steps = float(row.get("max_steps") or steps)
            batch = float(row.get("batch") or 100)
        except (KeyError, TypeError, ValueError):
            continue
        if not (math.isfinite(n) and math.isfinite(steps) and math.isfinite(max_steps)) or n <= 0 or math.isnan(unsolved):
            continue
        level = {"n": n, "steps": max(steps, 1.0), "solved": unsolved < 0.5, "unsolved": unsolved, "max_steps": max_steps, "batch": batch}
        by_size.setdefault(n, []).append(level)
    levels = []
    for n in sorted(by_size):
        solved = [level for level in by_size[n] if level["solved"]]
        if solved:
            steps = math.exp(sum(math.log(level["steps"]) for level in solved) / len(solved))
            levels.append({**solved[0], "steps": steps})
        else:
            levels.append(max(by_size[n], key=lambda level: (level["max_steps"], level["steps"])))
    return levels


def largest_solved(levels):
    """Size of the largest solved level; 0 if none is."""
    return max((level["n"] for level in levels if level["solved"]), default=0.0)


def budget(n):
    """Steps that the schedule grants size n: 50 * 2**k at n = 10 * 2**(k/2), up to the cap of the fidelity that runs this size.

    A function of the size alone: what a run was really given plays no part, so a larger budget buys no headroom.
    """
    cap = 1e4 if n <= 640 else 1e5 if n <= 1280 else 1e6
    return min(0.5 * n * n, cap)


def power_law(levels, exponent=2.0, emphasis=0.0):
    """(a, b) of log steps = a + b log n by least squares; a level weighs n**emphasis. One level only: b is `exponent`."""
    x = np.array([math.log(level["n"]) for level in levels])
    y = np.array([math.log(level["steps"]) for level in levels])
    weight = np.exp(emphasis * (x - x.max()))
    weight = weight / weight.sum()
    centre_x = math.fsum(weight * x)
    centre_y = math.fsum(weight * y)
    spread = math.fsum(weight * (x - centre_x) ** 2)
    slope = math.fsum(weight * (x - centre_x) * (y - centre_y)) / spread if spread > 1e-12 else exponent
    return centre_y - slope * centre_x, slope


def worst_window(levels, width, target):
    """Largest log steps at size `target` that any power law through `width` neighbouring levels foretells; slopes below 0 count as 0."""
    width = min(width, len(levels))
    worst = -math.inf
    for start in range(len(levels) - width + 1):
        window = levels[start : start + width]
        _, slope = power_law(window)
        middle_x = sum(math.log(level["n"]) for level in window) / width
        middle_y = sum(math.log(level["steps"]) for level in window) / width
        worst = max(worst, middle_y + max(slope, 0.0) * (math.log(target) - middle_x))
    return worst


def smooth_max(values, sharpness):
    """Log-sum-exp mean of values: near the mean for a small sharpness, near the maximum for a large one."""
    top = max(values)
    return top + math.log(sum(math.exp(sharpness * (value - top)) for value in values) / len(values)) / sharpness
