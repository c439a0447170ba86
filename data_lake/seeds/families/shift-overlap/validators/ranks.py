"""For each k, how long at least k guards were there: cut the day at every start and end, and count the shifts around the middle of each piece."""

from itertools import pairwise

ENDS = "open"
SAFE = "least"


def solution(inputs):
    if not isinstance(inputs, dict) or {"shifts", "least"} - set(inputs):
        return {"status": "schema_error", "detail": "shifts and least"}
    shifts = [(start, end + 1) if ENDS == "closed" else (start, end) for start, end in inputs["shifts"]]
    cuts = sorted({minute for shift in shifts for minute in shift})
    at_least = [0] * (len(shifts) + 2)
    for left, right in pairwise(cuts):
        middle = (left + right) / 2
        present = sum(start < middle < end for start, end in shifts)
        for rank in range(present + 1):
            at_least[rank] += right - left
    wanted = inputs["least"]
    if wanted > len(shifts):
        return 0
    return at_least[wanted] - (at_least[wanted + 1] if SAFE == "exactly" else 0)
