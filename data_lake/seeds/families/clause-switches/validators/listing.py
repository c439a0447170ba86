"""Every setting is listed and looked at."""

from itertools import product

KIND = "some"
HELD = True


def solution(inputs):
    try:
        count, clauses, asked = inputs["switches"], inputs["clauses"], inputs["asked"]
        choices = [(HELD,) if number == asked else (False, True) for number in range(1, count + 1)]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "switches, clauses, asked"}
    allowed = {"some": {1, 2, 3}, "one": {1}}[KIND]
    return sum(all(sum(on[abs(claim) - 1] is (claim > 0) for claim in line) in allowed for line in clauses) for on in product(*choices))
