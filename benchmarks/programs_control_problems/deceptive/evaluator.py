"""The gain of six settings from 0 to 1, in pairs: it rises slowly towards 0 and has a high peak, narrow, near 1."""

import importlib.util
import math


def evaluate(program_path):
    """Return the gain; settings outside 0 to 1 count as the nearest within."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    settings = program.settings()
    if len(settings) != 6 or not all(isinstance(value, (int, float)) and math.isfinite(value) for value in settings):
        return {"gain": 0.0}
    held = [min(max(value, 0.0), 1.0) for value in settings]
    gain = 0.0
    for first, second in zip(held[::2], held[1::2], strict=True):
        mean = (first + second) / 2
        gain += 0.7 * (0.8 - mean) / 0.8 if mean < 0.8 else 1.5 * (mean - 0.8) / 0.2
    return {"gain": gain}
