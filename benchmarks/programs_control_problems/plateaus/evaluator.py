"""How many of 120 cases a rule sorts right: a whole number, so that most small changes change nothing."""

import importlib.util

CASES = [((k * 37 % 101) / 100, (k * 53 % 97) / 96, (k * 29 % 89) / 88) for k in range(120)]


def kind(x, y, z):
    """Return the right kind."""
    if x + 0.6 * y > 1.13:
        return 2 if z > 0.36 else 1
    return 2 if z - 0.4 * x > 0.71 else 0


def evaluate(program_path):
    """Return the number of right kinds."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return {"right": float(sum(program.kind(*case) == kind(*case) for case in CASES))}
