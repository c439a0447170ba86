"""The weight of a frame of eight bars; one whose bars are too thin, or outside 0.1 to 10, fails."""

import importlib.util

LENGTHS = [1.0, 1.41, 1.0, 1.41, 2.0, 1.0, 1.41, 1.0]
LOADS = [3.0, 4.2, 1.2, 0.7, 2.5, 5.1, 3.3, 0.4]


def evaluate(program_path):
    """Return the weight. A frame that would not hold is an error."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    bars = [float(bar) for bar in program.bars()]
    if len(bars) != len(LENGTHS) or not all(0.1 <= bar <= 10 for bar in bars):
        raise ValueError("eight bars of 0.1 to 10 are needed")
    for place, load in enumerate(LOADS):
        share = 0.15 * bars[place - 1] + 0.1 * bars[(place + 1) % len(bars)]
        if bars[place] + share < load:
            raise ValueError(f"bar {place} is too thin")
    bend = sum(length**2 / bar for length, bar in zip(LENGTHS, bars, strict=True))
    if bend > 9.0:
        raise ValueError("it bends too far")
    return {"weight": sum(length * bar for length, bar in zip(LENGTHS, bars, strict=True))}
