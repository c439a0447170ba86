"""Which number makes the answer so: the generator."""

part_a = None
__high__ = __index__ = __low__ = __value__ = None
# --- program ---

import random

make_a = part_a()


def input(difficulty):
    first, texts = make_a(difficulty)
    texts = list(texts)
    if texts[__index__].strip() != str(__value__):
        raise ValueError("the port's slot does not show its number")
    low, high, width = __low__, __high__, 3 + difficulty
    bottom = max(low, min(random.randint(__value__ - width, __value__), high - width))
    top = min(high, bottom + width)
    del texts[__index__]
    __value__ = None
    return {"a": first, "bottom": bottom, "top": top}, [*texts, str(bottom), str(top)]
