"""Which number makes the answer so: the independent validators."""

part_a = failed = measure = None
__code__ = __none__ = __value__ = None
# --- program ---

import json

ASK = __code__
solve_a = part_a()


def solution(inputs):
    try:
        text, bottom, top = json.dumps(inputs["a"]), inputs["bottom"], inputs["top"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "a, bottom and top"}
    pairs = []
    for number in range(top, bottom - 1, -1):
        first = json.loads(text)
        __value__ = number
        answer = solve_a(first)
        if failed(answer):
            return answer
        pairs.append((measure(answer), number))
    if ASK in ("first", "third"):
        fitting = [number for value, number in pairs if not ((value - 1) % 3 if ASK == "third" else value & 1)]
        return fitting[-1] if fitting else __none__
    if ASK == "total":
        total = 0
        for value, number in pairs:
            total += value
        return total
    pairs.sort()
    if ASK == "spread":
        return pairs[-1][0] - pairs[0][0]
    if ASK == "distinct":
        return 1 + sum(one[0] != two[0] for one, two in zip(pairs, pairs[1:]))
    wanted = pairs[-1][0] if ASK == "largest" else pairs[0][0]
    fitting = [number for value, number in pairs if value == wanted]
    return fitting[0] if ASK == "largest" else fitting[-1]
