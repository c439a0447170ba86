"""A clock: minute after minute the traveller waits, or sits in a bus."""

CHANGE = 0
EDGE = "caught"


def solution(inputs):
    try:
        legs, minute = [tuple(leg) for leg in inputs["legs"]], inputs["start"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "legs and start"}
    came = minute
    while legs:
        first, every, ride = legs[0]
        leaves = minute >= first and minute % every == first % every
        if leaves and (minute > came or (minute == came and EDGE == "caught")):
            minute += ride
            came = minute + CHANGE
            legs.pop(0)
            if not legs:
                return minute
        else:
            minute += 1
    return {"status": "schema_error", "detail": "no legs"}
