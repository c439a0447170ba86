"""The root mean square error of a curve at 60 points of a decaying double wave."""

import importlib.util
import math

POINTS = [k / 10 for k in range(60)]


def target(x):
    """Return the curve that is looked for."""
    return 2.3 * math.exp(-0.31 * x) * math.sin(1.7 * x + 0.4) + 0.8 * math.cos(0.55 * x) + 0.11 * x


def evaluate(program_path):
    """Return the error; a curve without a value at a point counts with an error of 1000 there."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    squares = []
    for x in POINTS:
        value = program.curve(x)
        gap = value - target(x) if isinstance(value, (int, float)) and math.isfinite(value) else 1000.0
        squares.append(min(abs(gap), 1000.0) ** 2)
    return {"error": math.sqrt(math.fsum(squares) / len(squares))}
