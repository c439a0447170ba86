"""Minute by minute."""

LEAKING = 1
ORDER = "pour"


def solution(inputs):
    try:
        capacity, leak, asked = inputs["capacity"], inputs["leak"], inputs["asked"]
        poured = dict(inputs["pours"])
    except (TypeError, KeyError, ValueError):
        return {"status": "schema_error", "detail": "capacity, leak, pours, asked"}
    level = 0
    for minute in range(1, asked + 1):
        steps = ["pour", "leak"] if ORDER == "pour" else ["leak", "pour"]
        for step in steps:
            if step == "pour":
                level += poured.get(minute, 0)
                if level > capacity:
                    level = capacity
            elif minute % LEAKING == 0:
                level -= leak
                if level < 0:
                    level = 0
    return level
