"""Made-up experiment results for tests of objectives."""

import numpy as np

from evolake.objectives.families.levels import budget

SIZES = [10, 14, 20, 28, 40, 57, 80, 113, 160, 226, 320, 453, 640]


def level(n: int, median_step: float, unsolved: float | None = None, max_steps: float | None = None) -> dict:
    """One result row. It is solved if the median fits the schedule's budget, unless `unsolved` says
    otherwise."""
    granted = budget(n) if max_steps is None else max_steps
    if unsolved is None:
        unsolved = 0.49 if median_step <= granted else 0.6
    return {
        "design_id": "d",
        "batch": 100,
        "N": n,
        "ratio": 4.3,
        "run_till_median": True,
        "max_steps": int(granted),
        "unsolved_fraction": unsolved,
        "median_step": int(median_step),
        "steps_run": int(min(median_step, granted)),
        "seed": 0,
        "wall_s": 1.0,
        "fidelity": "low",
    }


def scheduled(steps: dict[int, float]) -> list[dict]:
    """Results of the schedule: levels up to and including the first that fails."""
    rows = []
    for n in sorted(steps):
        rows.append(level(n, steps[n]))
        if rows[-1]["unsolved_fraction"] >= 0.5:
            break
    return rows


def random_designs(count: int, rng: np.random.Generator) -> dict[str, list[dict]]:
    """Designs with different offsets, exponents, curvatures and noise, each measured up to its own
    frontier."""
    designs = {}
    for number in range(count):
        offset, exponent, curve = rng.normal(1.0, 0.7), rng.uniform(0.9, 2.6), rng.exponential(0.12)
        x = np.log(np.array(SIZES) / 10)
        y = (
            offset
            + 2
            + exponent * x
            + curve * np.maximum(x - 1.5, 0) ** 2 * rng.uniform(0, 3)
            + rng.normal(0, 0.25, size=len(SIZES))
        )
        designs[f"d{number:03d}"] = scheduled(dict(zip(SIZES, np.exp(y), strict=True)))
    return designs
