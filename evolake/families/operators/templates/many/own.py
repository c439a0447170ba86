"""The answer of an independent validator, then those that are known, the last one first."""

own = listed = None
__listed__ = None
# --- program ---

from itertools import islice

solve, every = own(), listed()


def solution(inputs):
    yield solve(inputs)
    yield from reversed(list(islice(every(inputs), __listed__)))
