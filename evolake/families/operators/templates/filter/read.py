"""Only elements that meet a condition: the reader."""

part_a = cut = said = None
__result__ = None
# --- program ---

read_a = part_a()


def read(text):
    (first,) = cut(text)
    __result__
