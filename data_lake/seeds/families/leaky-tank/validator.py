"""From one pouring to the next, with all the leaking between them at once."""

LEAKING = 1
ORDER = "pour"


def solution(inputs):
    if not isinstance(inputs, dict) or {"capacity", "leak", "pours", "asked"} - set(inputs):
        return {"status": "schema_error", "detail": "capacity, leak, pours, asked"}
    content = done = 0
    for minute, litres in inputs["pours"]:
        if minute > inputs["asked"]:
            break
        leaks_until = minute if ORDER == "leak" else minute - 1
        content = max(0, content - (leaks_until // LEAKING - done) * inputs["leak"])
        done = leaks_until // LEAKING
        content = min(inputs["capacity"], content + litres)
    return max(0, content - (inputs["asked"] // LEAKING - done) * inputs["leak"])
