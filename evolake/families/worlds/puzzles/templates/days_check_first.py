"""A checker of days that looks at each pair and each day."""

APART = LOAD = ""
plan = {}
__answer__ = __constants__ = None
# --- program ---
"""Looks at each pair, then at each day."""

__constants__


def check(inputs, answer):
    __answer__
    for day in plan.values():
        if isinstance(day, bool) or not isinstance(day, int) or not 1 <= day <= inputs["days"]:
            return False
    for one, other in inputs["pairs"]:
        first, second = plan[one], plan[other]
        if APART == "different" and first == second:
            return False
        if APART == "spaced" and abs(first - second) <= 1:
            return False
        if APART == "earlier" and not first < second:
            return False
    loads = [list(plan.values()).count(day) for day in range(1, inputs["days"] + 1)]
    if LOAD == "most":
        return max(loads) <= 3
    return min(loads) >= 1 if LOAD == "used" else loads[0] == loads[-1]
