"""The largest error of a sine from 0 to 90 degrees, and how many operations on numbers it takes."""

import importlib.util
import math


class Counted:
    """A number that counts what is done with it."""

    done = 0

    def __init__(self, value):
        self.value = float(value)

    def _by(self, other, work):
        Counted.done += 1
        return Counted(work(self.value, other.value if isinstance(other, Counted) else float(other)))

    def __add__(self, other):
        return self._by(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._by(other, lambda a, b: a - b)

    def __rsub__(self, other):
        return self._by(other, lambda a, b: b - a)

    def __mul__(self, other):
        return self._by(other, lambda a, b: a * b)

    def __truediv__(self, other):
        return self._by(other, lambda a, b: a / b)

    def __rtruediv__(self, other):
        return self._by(other, lambda a, b: b / a)

    __radd__, __rmul__ = __add__, __mul__


def evaluate(program_path):
    """Return error and operations; an error of 10 if it cannot be used."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    Counted.done, worst = 0, 0.0
    for k in range(91):
        value = program.sine(Counted(math.radians(k)))
        value = value.value if isinstance(value, Counted) else value
        fine = isinstance(value, (int, float)) and math.isfinite(value)
        worst = max(worst, min(abs(value - math.sin(math.radians(k))), 10.0) if fine else 10.0)
    return {"error": worst, "operations": Counted.done / 91}
