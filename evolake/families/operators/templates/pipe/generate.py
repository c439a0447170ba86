"""An answer becomes a number: the generator."""

part_a = part_b = None
__high__ = __index__ = __low__ = __value__ = None
# --- program ---

make_a, make_b = part_a(), part_b()


def input(difficulty):
    second, more = make_b(difficulty)
    first, texts = make_a(difficulty)
    more = list(more)
    if more[__index__].strip() != str(__value__):
        raise ValueError("the port's slot does not show its number")
    span = __high__ - __low__ + 1
    del more[__index__]
    __value__ = None
    return {"a": first, "b": second, "span": span}, [*texts, *more, str(span)]
