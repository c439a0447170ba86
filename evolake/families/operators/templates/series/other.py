"""The answers to several cases: the independent validators."""

part_a = failed = None
# --- program ---

solve_a = part_a()


def solution(inputs):
    try:
        left = list(inputs["items"])
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "items"}
    result = []
    while left:
        answer = solve_a(left.pop(0))
        if failed(answer):
            return answer
        result.append(answer)
    return result or {"status": "schema_error", "detail": "no items"}
