"""Inclusion and exclusion over sets of members, by the least common multiple of a set; the weights depend on which numbers of votes count."""

from itertools import combinations
from math import lcm

VOTES = "some"
WANTED = "count"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("divisors"), list) or not isinstance(inputs.get("limit"), int):
        return {"status": "schema_error", "detail": "divisors and limit"}
    divisors, limit = inputs["divisors"], inputs["limit"]
    total = 0
    for size in range(1, len(divisors) + 1):
        weight = {"some": (-1) ** (size - 1), "one": size * (-1) ** (size - 1), "odd": (-2) ** (size - 1)}[VOTES]
        for members in combinations(divisors, size):
            common = lcm(*members)
            times = limit // common
            total += weight * (times if WANTED == "count" else common * times * (times + 1) // 2)
    return total
