"""An answer becomes a number: the independent validators."""

part_a = part_b = failed = measure = None
__low__ = __value__ = None
# --- program ---

import json

solve_a, solve_b = part_a(), part_b()


def solution(inputs):
    try:
        first, second, span = inputs["a"], json.loads(json.dumps(inputs["b"])), inputs["span"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "a, b and span"}
    found = solve_a(first)
    if failed(found):
        return found
    number = measure(found)
    choices = list(range(__low__, __low__ + span))
    __value__ = choices[number - span * (number // span)]
    return solve_b(second)
