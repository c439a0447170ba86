"""The median relative error of a formula for the energy of a body that moves, turns and is lifted."""

import importlib.util
import math
import statistics

CASES = [(1.0 + k % 3, 0.5 + 0.7 * (k % 5), 0.2 + 0.3 * (k % 7), 0.1 + 0.4 * (k % 4)) for k in range(40)]


def evaluate(program_path):
    """Return the median error over the cases, at most 10 each."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    errors = []
    for mass, speed, turn, height in CASES:
        wanted = mass * speed * speed / 2 + mass * turn * turn / 5 + 9.81 * mass * height
        value = program.energy(mass, speed, turn, height)
        fine = isinstance(value, (int, float)) and math.isfinite(value)
        errors.append(min(abs(value / wanted - 1), 10.0) if fine else 10.0)
    return {"error": statistics.median(errors)}
