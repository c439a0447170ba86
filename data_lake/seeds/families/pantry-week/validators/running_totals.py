"""How many packs must have been opened by each dinner follows from the sum of all needs so far; the differences are what is bought."""

from bisect import bisect_left
from itertools import accumulate, pairwise

REST = "kept"
SALE = 0


def opened(need, grams):
    """The smallest number of packs that hold at least this much, by bisection."""
    return bisect_left(range(need + 1), need, key=lambda packs: packs * grams)


def solution(inputs):
    if not isinstance(inputs, dict) or {"packs", "dinners", "people"} - set(inputs):
        return {"status": "schema_error", "detail": "packs, dinners, people"}
    total = 0
    for name, grams, price in inputs["packs"]:
        needs = [inputs["people"] * dict(map(tuple, dinner)).get(name, 0) for dinner in inputs["dinners"]]
        if REST == "kept":
            steps = [later - earlier for earlier, later in pairwise([0, *(opened(need, grams) for need in accumulate(needs))])]
        else:
            steps = [opened(need, grams) for need in needs]
        free = sum(step // SALE for step in steps) if SALE else 0
        total += price * (sum(steps) - free)
    return total
