"""The recurrence of the permutation flow shop, with leaving times (with blocking: Pinedo, Scheduling, section 6.2)."""

SEQUENCE = "up"
ROOM = "plenty"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("times"), list) or not isinstance(inputs.get("asked"), int):
        return {"status": "schema_error", "detail": "times and asked"}
    times = inputs["times"]
    order = range(len(times)) if SEQUENCE == "up" else range(len(times) - 1, -1, -1)
    left = [0] * len(times[0])
    for piece in order:
        here = 0
        for machine, minutes in enumerate(times[piece]):
            done = max(here, left[machine]) + minutes
            if ROOM == "none" and machine + 1 < len(left):
                here = left[machine] = max(done, left[machine + 1])
            else:
                here = left[machine] = done
        if piece + 1 == inputs["asked"]:
            return here
    return {"status": "schema_error", "detail": "asked is not a piece"}
