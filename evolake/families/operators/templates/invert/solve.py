"""Which number makes the answer so: the primary."""

part_a = failed = lacks = measure = None
__code__ = __none__ = __value__ = None
# --- program ---

import copy

ASK = __code__
solve_a = part_a()


def solution(inputs):
    if lacks(inputs, "a", "bottom", "top"):
        return {"status": "schema_error", "detail": "a, bottom and top"}
    values = {}
    for number in range(inputs["bottom"], inputs["top"] + 1):
        first = copy.deepcopy(inputs["a"])
        __value__ = number
        answer = solve_a(first)
        if failed(answer):
            return answer
        values[number] = measure(answer)
    if ASK == "largest":
        return max(values, key=lambda number: (values[number], -number))
    if ASK == "smallest":
        return min(values, key=lambda number: (values[number], -number))
    if ASK == "spread":
        return max(values.values()) - min(values.values())
    if ASK == "distinct":
        return len(set(values.values()))
    if ASK == "total":
        return sum(values.values())
    divisor, rest = (2, 0) if ASK == "first" else (3, 1)
    return min((number for number in values if values[number] % divisor == rest), default=__none__)
