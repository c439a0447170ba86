"""Sewall Wright's path coefficients: the effect of one quantity on another is the sum, over all directed paths, of the products of the factors."""

FORCE = "set"
WANTED = "value"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("equations"), list) or not isinstance(inputs.get("forced"), int):
        return {"status": "schema_error", "detail": "equations, forced, value"}
    equations, forced = inputs["equations"], inputs["forced"]
    children = {number: [] for number in range(1, len(equations) + 1)}
    for number, (_, terms) in enumerate(equations, start=1):
        for factor, parent in terms:
            children[parent].append((number, factor))

    def effect(start, end):
        total, paths = 0, [(start, 1)]
        while paths:
            number, product = paths.pop()
            if number == end:
                total += product
            paths.extend((child, product * factor) for child, factor in children[number] if child <= end)
        return total

    def plain(end):
        return sum(equations[start - 1][0] * effect(start, end) for start in range(1, end + 1))

    last = len(equations)
    push = inputs["value"] - plain(forced) if FORCE == "set" else inputs["value"]
    change = push * effect(forced, last)
    return change if WANTED == "change" else plain(last) + change
