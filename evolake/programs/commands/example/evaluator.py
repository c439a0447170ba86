"""Makes the inputs and scores the outputs; the program itself runs in a jail of its own, which has neither."""

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
        output = result["output"]
        if result["status"] != "ok" or not isinstance(output, (int, float)) or not math.isfinite(output):
            return {"combined_score": 0.0, "worst": 1e9}
        worst = max(worst, abs(output - math.cos(x)))
    return {"combined_score": 1 / (1 + 10 * worst), "worst": worst}
