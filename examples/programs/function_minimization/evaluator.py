"""Runs the search many times and scores how near it comes to the lowest point, and how often it asks for the function's value.

OpenEvolve's contract: `evaluate(program_path)` imports the program, so its score is not protected.
"""

import importlib.util
import math

LOWEST = (-1.7043, 0.6783, -1.5187)
RUNS = 30


def evaluate(program_path):
    """combined_score is between 0 and 1."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    gaps, calls = [], 0

    def counted(x, y):
        nonlocal calls
        calls += 1
        if calls > 400 * RUNS:
            raise RuntimeError("more than 400 values per run")
        return math.sin(x) * math.cos(y) + math.sin(x * y) + (x * x + y * y) / 20

    for _ in range(RUNS):
        x, y = program.search(counted, -5, 5)
        if not (-5 <= x <= 5 and -5 <= y <= 5):
            return {"combined_score": 0.0, "gap": 10.0, "calls": 400.0}
        gaps.append(math.sin(x) * math.cos(y) + math.sin(x * y) + (x * x + y * y) / 20 - LOWEST[2])
    gap = max(sum(gaps) / RUNS, 0.0)
    return {"combined_score": 1 / (1 + 20 * gap), "gap": gap, "calls": calls / RUNS}
