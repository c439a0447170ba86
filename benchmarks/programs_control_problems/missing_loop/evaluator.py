"""How many digits of cube roots are right."""

import importlib.util
import math

NUMBERS = [0.02, 0.3, 1.7, 5.0, 12.0, 60.0, 333.0, 2000.0]


def evaluate(program_path):
    """Return the mean of right digits over the numbers, at most 15 each."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    digits = []
    for number in NUMBERS:
        root = program.cube_root(number)
        if not isinstance(root, (int, float)) or not math.isfinite(root):
            digits.append(-10.0)
            continue
        error = abs(root / number ** (1 / 3) - 1)
        digits.append(min(15.0, -math.log10(max(error, 1e-16))))
    return {"digits": sum(digits) / len(digits)}
