"""One question about several answers: the primary."""

part_a = failed = lacks = measure = None
__code__ = None
# --- program ---

FOLD = __code__
solve_a = part_a()


def solution(inputs):
    if lacks(inputs, "items") or not isinstance(inputs["items"], list) or not inputs["items"]:
        return {"status": "schema_error", "detail": "items"}
    answers = [solve_a(item) for item in inputs["items"]]
    for answer in answers:
        if failed(answer):
            return answer
    values = [measure(answer) for answer in answers]
    return {
        "sum": lambda: sum(values), "largest": lambda: max(values), "spread": lambda: max(values) - min(values),
        "argmax": lambda: values.index(max(values)) + 1, "even": lambda: sum(value % 2 == 0 for value in values),
        "alternating": lambda: sum(values[::2]) - sum(values[1::2]),
    }[FOLD]()
