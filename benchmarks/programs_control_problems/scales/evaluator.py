"""The mean error, in powers of e, of a rate law at temperatures from 300 to 900."""

import importlib.util
import math

PLACES = [(300.0 + 50 * k, 0.1 + 0.3 * (k % 4)) for k in range(13)]


def evaluate(program_path):
    """Return the mean distance of logarithms, at most 50 each."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    gaps = []
    for heat, share in PLACES:
        wanted = 3.7e8 * math.exp(-5200 / heat) * share**1.6 + 2.4e-3 * heat
        value = program.rate(heat, share)
        fine = isinstance(value, (int, float)) and math.isfinite(value) and value > 0
        gaps.append(min(abs(math.log(value / wanted)), 50.0) if fine else 50.0)
    return {"error": sum(gaps) / len(gaps)}
