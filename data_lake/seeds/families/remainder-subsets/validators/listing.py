"""Brute force: every choice of every size is listed and looked at."""

from itertools import combinations
from math import prod

FOLD = "sum"
SIZE = "any"


def solution(inputs):
    try:
        cards, modulus, remainder = inputs["cards"], inputs["modulus"], inputs["remainder"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "cards, modulus, remainder"}
    good = 0
    for size in range(1, len(cards) + 1):
        if (SIZE == "even" and size % 2) or (SIZE == "odd" and size % 2 == 0):
            continue
        for chosen in combinations(cards, size):
            if FOLD == "sum":
                total = sum(chosen)
            elif FOLD == "product":
                total = prod(chosen)
            else:
                total = sum(card**2 for card in chosen)
            good += total % modulus == remainder
    return good
