"""A validator of the urn that counts whole numbers of cases."""

BACK = ""
__answer__ = __constants__ = None
# --- program ---
"""Cases of equal weight: orders of the colours times ways to draw so many of each."""

from itertools import product
from math import factorial, gcd, prod

__constants__


def ways(there, drawn):
    """In how many ways so many are drawn one after another of those that are there."""
    steps = {"kept": range(there, there - drawn, -1), "back": [there] * drawn, "more": range(there, there + drawn)}[BACK]
    return prod(max(step, 0) for step in steps)


def written(pair):
    above, below = pair
    divisor = gcd(above, below)
    return f"{above // divisor}/{below // divisor}" if below != divisor else str(above // divisor)


def solution(inputs):
    own, wanted, draws = inputs["colours"].index(inputs["colour"]), inputs["wanted"], inputs["draws"]

    def total(event):
        cases = 0
        for counts in product(range(draws + 1), repeat=len(inputs["counts"])):
            if sum(counts) == draws and event(counts):
                orders = factorial(draws) // prod(map(factorial, counts))
                cases += orders * prod(ways(there, count) for there, count in zip(inputs["counts"], counts))
        return cases, ways(sum(inputs["counts"]), draws)

    __answer__
