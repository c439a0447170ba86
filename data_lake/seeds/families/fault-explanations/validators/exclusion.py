"""Inclusion and exclusion over alarms that are left without a fault: binomials of the faults that touch none of them."""

from itertools import combinations
from math import comb

OTHER = "never"
SIZE = "most"


def chosen(number, most):
    """Sets of allowed size among this many faults."""
    return comb(number, most) if SIZE == "just" else sum(comb(number, size) for size in range(most + 1))


def covering(faults, needed, most):
    """Sets of faults of allowed size that set off all needed alarms."""
    total = 0
    for size in range(len(needed) + 1):
        for silent in combinations(needed, size):
            total += (-1) ** size * chosen(sum(not caused & set(silent) for caused in faults), most)
    return total


def solution(inputs):
    if not isinstance(inputs, dict) or {"alarms", "faults", "ringing", "most"} - set(inputs):
        return {"status": "schema_error", "detail": "alarms, faults, ringing, most"}
    ringing, most = inputs["ringing"], inputs["most"]
    possible = [set(caused) for caused in inputs["faults"] if set(caused) <= set(ringing)]
    if OTHER == "false":
        return chosen(len(possible), most)
    total = covering(possible, ringing, most)
    if OTHER == "one":
        for mistaken in ringing:
            rest = [alarm for alarm in ringing if alarm != mistaken]
            total += covering([caused for caused in possible if mistaken not in caused], rest, most)
    return total
