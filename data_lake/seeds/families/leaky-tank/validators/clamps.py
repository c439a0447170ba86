"""Each change is a map x -> min(high, max(low, x + shift)), and such maps follow one another as one such map: compose them all in halves."""

LEAKING = 1
ORDER = "pour"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("pours"), list) or not isinstance(inputs.get("asked"), int):
        return {"status": "schema_error", "detail": "capacity, leak, pours, asked"}
    capacity, asked = inputs["capacity"], inputs["asked"]
    moments = [(minute, ORDER != "pour", litres) for minute, litres in inputs["pours"] if minute <= asked]
    moments += [(minute, ORDER == "pour", -inputs["leak"]) for minute in range(LEAKING, asked + 1, LEAKING)]
    maps = [(shift, 0, capacity) for _, _, shift in sorted(moments)]

    def applied(change, x):
        shift, low, high = change
        return min(high, max(low, x + shift))

    def joined(maps):
        if len(maps) <= 1:
            return maps[0] if maps else (0, 0, capacity)
        middle = len(maps) // 2
        first, second = joined(maps[:middle]), joined(maps[middle:])
        return first[0] + second[0], applied(second, first[1]), applied(second, first[2])

    return applied(joined(maps), 0)
