"""An answer decides a rule: the reader."""

part_a = part_b = cut = said = None
__letter__ = __words__ = None
# --- program ---

read_a, read_b = part_a(), part_b()


def read(text):
    first, second = cut(text)
    said(text)
    return {"a": read_a(first), "b": read_b(second.replace(__letter__, __words__))}
