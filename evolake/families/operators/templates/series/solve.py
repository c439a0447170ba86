"""The answers to several cases: the primary."""

part_a = failed = lacks = None
# --- program ---

solve_a = part_a()


def solution(inputs):
    if lacks(inputs, "items") or not isinstance(inputs["items"], list) or not inputs["items"]:
        return {"status": "schema_error", "detail": "items"}
    answers = [solve_a(item) for item in inputs["items"]]
    return next((answer for answer in answers if failed(answer)), answers)
