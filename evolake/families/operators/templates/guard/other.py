"""An answer decides a rule: the independent validators."""

part_a = part_b = part_c = failed = measure = None
__code__ = None
# --- program ---

WHEN = __code__
solve_a, solve_then, solve_else = part_a(), part_b(), part_c()


def solution(inputs):
    try:
        first, second = inputs["a"], inputs["b"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "a and b"}
    found = solve_a(first)
    if failed(found):
        return found
    value = abs(measure(found) - WHEN[1])
    if value - value // WHEN[0] * WHEN[0]:
        return solve_else(second)
    return solve_then(second)
