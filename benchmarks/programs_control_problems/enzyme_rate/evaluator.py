"""The error of a formula for 72 measured rates of a reaction."""

import importlib.util
import math

SUBSTRATE = [0.2, 0.5, 1.0, 2.0, 3.5, 6.0, 9.0, 14.0, 20.0, 28.0, 38.0, 50.0]
INHIBITOR = [0.0, 0.4, 1.0, 2.2, 4.0, 7.0]


def measured(substrate, inhibitor, number):
    """Return a rate with an error of measurement of about 1 percent."""
    rate = 7.3 * substrate / (1.9 * (1 + inhibitor / 1.4) + substrate + substrate**2 / 26)
    return rate * (1 + 0.015 * math.sin(12.9898 * number * number))


def evaluate(program_path):
    """Return the root mean square error; a rate that is no number counts with an error of 100."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    squares = []
    for number, (s, i) in enumerate((s, i) for s in SUBSTRATE for i in INHIBITOR):
        value = program.rate(s, i)
        fine = isinstance(value, (int, float)) and math.isfinite(value)
        squares.append(min(abs(value - measured(s, i, number)), 100.0) ** 2 if fine else 1e4)
    return {"error": math.sqrt(math.fsum(squares) / len(squares))}
