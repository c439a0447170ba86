"""What `evolake programs new` writes: a function to be fitted, scored apart from the program that fits it."""

from __future__ import annotations

FILES = {
    "initial_program.py": '''"""A curve that is to follow cos(x) between 0 and 2. Only what stands between the two marks evolves."""

# EVOLVE-BLOCK-START
def curve(x):
    return 1.0 - 0.4 * x * x + 0.01 * x * x * x
# EVOLVE-BLOCK-END
''',
    "evaluator.py": '''"""Makes the inputs and scores the outputs; the program itself runs in a jail of its own, which has neither."""

import math
import random


def cases(seed):
    """The inputs, JSON each: `curve` is called with one of them at a time."""
    chance = random.Random(seed)
    return [2 * chance.random() for _ in range(20)]


def score(cases, results):
    """cases: as above. results: one {"status", "output", "cpu_s", "peak_mb", "reason"} for each; status is "ok" where the program returned."""
    worst = 0.0
    for x, result in zip(cases, results, strict=True):
        if result["status"] != "ok" or not isinstance(result["output"], (int, float)):
            return {"combined_score": 0.0, "worst": 1e9}
        worst = max(worst, abs(result["output"] - math.cos(x)))
    return {"combined_score": 1 / (1 + 10 * worst), "worst": worst}
''',
    "project.toml": '''description = "A short formula for cos(x) between 0 and 2."

[program]
entry = "curve"

[evaluator]
mode = "separate"
cpu_s = 2
wall_s = 10

[metrics]
combined_score = "max"
worst = "min"
''',
}
"""Path below the project's folder -> its text."""
