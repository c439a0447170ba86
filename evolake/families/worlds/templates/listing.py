"""A validator of a constraint world that looks at everything."""

KINDS = {}
__answer__ = __bind__ = __constants__ = __constraints__ = __detail__ = __keys__ = __numbers__ = __view__ = None
__views__ = None
# --- program ---
"""Everything there is, looked at one by one."""

from itertools import combinations, permutations, product

__constants__
__constraints__


def solution(inputs):
    if not isinstance(inputs, dict) or __keys__ - set(inputs):
        return {"status": "schema_error", "detail": __detail__}
    names, ask = inputs["names"], inputs["ask"]
    count = len(names)
    __bind__
    more = (__numbers__,)
    clues = [*inputs["clues"], ["law", *inputs["marked"]]]
    views = [__view__ for __view__ in __views__ if all(KINDS[kind](__view__, *more, *args) for kind, *args in clues)]
    __answer__
