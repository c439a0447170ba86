"""An answer decides a rule: the primary."""

part_a = part_b = part_c = failed = lacks = measure = None
__code__ = None
# --- program ---

WHEN = __code__
solve_a, solve_then, solve_else = part_a(), part_b(), part_c()


def solution(inputs):
    if lacks(inputs, "a", "b"):
        return {"status": "schema_error", "detail": "a and b"}
    found = solve_a(inputs["a"])
    if failed(found):
        return found
    divisor, remainder = WHEN
    return (solve_then if measure(found) % divisor == remainder else solve_else)(inputs["b"])
