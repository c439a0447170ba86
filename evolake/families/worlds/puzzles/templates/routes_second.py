"""A validator of routes that lists every path without a repeated place."""

COST = ""
__answer__ = __constants__ = None
# --- program ---
"""Every path from the start, its cost counted from its list of roads."""

__constants__


def solution(inputs):
    found = {place: [] for place in inputs["places"] if place != inputs["start"]}

    def walk(seen, amounts):
        if amounts:
            cost = sum(amounts)
            if COST == "stops":
                cost += 3 * (len(seen) - 2)
            if COST == "twice":
                cost += amounts[0]
            found[seen[-1]].append(cost)
        for one, other, amount in inputs["roads"]:
            for here, there in ((one, other), (other, one)):
                if here == seen[-1] and there not in seen:
                    walk([*seen, there], [*amounts, amount])

    walk([inputs["start"]], [])
    __answer__
