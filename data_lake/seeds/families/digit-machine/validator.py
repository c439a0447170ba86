"""Walk until a number comes again, then jump over the whole rounds of the cycle."""

DIGITS = 2
WRAP = "zero"


def solution(inputs):
    if not isinstance(inputs, dict) or {"start", "factor", "added", "modulus", "steps"} - set(inputs):
        return {"status": "schema_error", "detail": "start, factor, added, modulus, steps"}
    order, places, shown = [], {}, inputs["start"]
    while shown not in places:
        places[shown] = len(order)
        order.append(shown)
        if len(order) > inputs["steps"]:
            return order[inputs["steps"]]
        total = sum(int(digit) ** DIGITS for digit in str(shown)) * inputs["factor"] + inputs["added"]
        shown = total % inputs["modulus"]
        if WRAP == "mirror":
            shown = inputs["modulus"] - shown
    tail = places[shown]
    return order[tail + (inputs["steps"] - tail) % (len(order) - tail)]
