"""A generator that limits how many may be used."""

part = None
__key__ = None
# --- program ---

make = part()


def input(difficulty):
    inputs, texts = make(difficulty)
    return {**inputs, __key__: 1 + difficulty}, [*texts, str(1 + difficulty)]
