"""The primary of a constraint world."""

KINDS = {}
more = ()
__answer__ = __bind__ = __constants__ = __constraints__ = __detail__ = __keys__ = __more__ = __numbers__ = None
__rest__ = __values__ = None
# --- program ---
"""Search: the thing with the fewest values left is decided next, and clues strike values of the last undecided thing they speak of."""

from itertools import combinations

__constants__
__constraints__


def search(clues, count, values, __more__):
    found, x = [], {}
    told = []
    for kind, *args in clues:
        fits, things = KINDS[kind]
        told.append((fits, args, args[:things] if things else range(count)))

    def strike(left):
        for fits, args, scope in told:
            undecided = [e for e in scope if e not in x]
            if not undecided and not fits(x, *more, *args):
                return False
            if len(undecided) == 1:
                [e] = undecided
                left[e] = {v for v in left[e] if fits({**x, e: v}, *more, *args)}
        return all(left.values())

    def extend(left):
        if not left:
            found.append({e: x[e] for e in range(count)})
            return
        e = min(left, key=lambda one: (len(left[one]), one))
        for v in sorted(left[e]):
            x[e] = v
            rest = {other: __rest__ for other, some in left.items() if other != e}
            if strike(rest):
                extend(rest)
            del x[e]

    start = {e: set(values) for e in range(count)}
    if strike(start):
        extend(start)
    return found


def solution(inputs):
    if not isinstance(inputs, dict) or __keys__ - set(inputs):
        return {"status": "schema_error", "detail": __detail__}
    names, ask = inputs["names"], inputs["ask"]
    count = len(names)
    __bind__
    more = (__numbers__,)
    clues = [*inputs["clues"], ["law", *inputs["marked"]]]
    found = search(clues, count, __values__, __more__)
    __answer__
