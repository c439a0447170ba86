"""Which number makes the answer so: the reader."""

part_a = cut = said = None
__legal__ = __letter__ = __value__ = None
# --- program ---

read_a = part_a()


def read(text):
    (first,) = cut(text)
    found = said(text)
    first = read_a(first.replace(__letter__, __legal__))
    __value__ = None
    return {"a": first, "bottom": int(found["slot__bottom__"]), "top": int(found["slot__top__"])}
