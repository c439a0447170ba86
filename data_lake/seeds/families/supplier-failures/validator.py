"""Day after day: all firms look at the state of the day before, at the same time."""

NEED = "one"
WANTED = "count"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("suppliers"), list) or not isinstance(inputs.get("first"), int):
        return {"status": "schema_error", "detail": "suppliers and first"}
    suppliers = inputs["suppliers"]
    closed, day, latest = {inputs["first"]}, 0, 0
    total = inputs["first"]
    while True:
        following = set()
        for firm, others in enumerate(suppliers, start=1):
            if firm not in closed and others:
                lost = sum(other in closed for other in others)
                if lost >= 1 if NEED == "one" else 2 * lost >= len(others):
                    following.add(firm)
        if not following:
            break
        day += 1
        latest = day
        total += sum(following)
        closed |= following
    return {"count": len(closed), "day": latest, "numbers": total}[WANTED]
