"""An answer becomes a number: the primary."""

part_a = part_b = failed = lacks = measure = None
__low__ = __value__ = None
# --- program ---

import copy

solve_a, solve_b = part_a(), part_b()


def solution(inputs):
    if lacks(inputs, "a", "b", "span"):
        return {"status": "schema_error", "detail": "a, b and span"}
    found = solve_a(inputs["a"])
    if failed(found):
        return found
    second = copy.deepcopy(inputs["b"])
    __value__ = __low__ + measure(found) % inputs["span"]
    return solve_b(second)
