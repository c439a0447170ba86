"""An instance with right answers to it."""

drawn = listed = None
__listed__ = None
# --- program ---

from itertools import islice

draw, every = drawn(), listed()


def input(difficulty):
    inputs, texts = draw(difficulty)
    return inputs, texts, list(islice(every(inputs), __listed__))
