"""One question about several answers: the independent validators."""

part_a = failed = measure = None
__code__ = None
# --- program ---

FOLD = __code__
solve_a = part_a()


def solution(inputs):
    try:
        items = list(inputs["items"])
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "items"}
    total = evens = alternating = 0
    sign, best, best_at, least = 1, None, 0, None
    for number, item in enumerate(items, start=1):
        answer = solve_a(item)
        if failed(answer):
            return answer
        value = measure(answer)
        total += value
        alternating += sign * value
        sign = -sign
        if not value & 1:
            evens += 1
        if best is None or value > best:
            best, best_at = value, number
        if least is None or value < least:
            least = value
    if best is None:
        return {"status": "schema_error", "detail": "no items"}
    if FOLD == "sum":
        return total
    if FOLD == "largest":
        return best
    if FOLD == "spread":
        return best - least
    if FOLD == "argmax":
        return best_at
    return evens if FOLD == "even" else alternating
