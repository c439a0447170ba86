"""The generator of the urn."""

__constants__ = __words__ = None
# --- program ---
import random

WORDS = __words__
__constants__


def input(difficulty):
    colours = random.sample(WORDS["names"].split(), 3)
    draws = 2 + (difficulty + 2) // 4
    counts = [random.randint(1 + difficulty, 4 + 3 * difficulty) for _ in colours]
    place = random.randrange(3)
    counts[place] = max(counts[place], draws)
    wanted = random.randint(1, draws - 1)
    listed = [f"{count} {colour}" for count, colour in zip(counts, colours, strict=True)]
    texts = [f"{listed[0]}, {listed[1]} and {listed[2]} {WORDS['things']}", str(draws), str(wanted), colours[place]]
    return {"colours": colours, "counts": counts, "draws": draws, "wanted": wanted, "colour": colours[place]}, texts
