"""Every set of faults of every size that is allowed."""

from itertools import combinations

OTHER = "never"
SIZE = "most"


def solution(inputs):
    try:
        faults, ringing, most = [set(caused) for caused in inputs["faults"]], set(inputs["ringing"]), inputs["most"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "alarms, faults, ringing, most"}
    found = 0
    for size in [most] if SIZE == "just" else range(most + 1):
        for present in combinations(faults, size):
            heard = set().union(*present)
            if not heard <= ringing:
                continue
            unexplained = len(ringing) - len(heard)
            if unexplained == 0 or OTHER == "false" or (OTHER == "one" and unexplained == 1):
                found += 1
    return found
