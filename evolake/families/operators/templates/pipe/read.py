"""An answer becomes a number: the reader."""

part_a = part_b = cut = said = None
__legal__ = __letter__ = __value__ = None
# --- program ---

read_a, read_b = part_a(), part_b()


def read(text):
    first, second = cut(text)
    second = read_b(second.replace(__letter__, __legal__))
    __value__ = None
    return {"a": read_a(first), "b": second, "span": int(said(text)["slot__slot__"])}
