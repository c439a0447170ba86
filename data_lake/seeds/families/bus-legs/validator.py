"""Closed form: how many intervals pass before the bus that is caught, rounded up."""

CHANGE = 0
EDGE = "caught"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("legs"), list) or not isinstance(inputs.get("start"), int):
        return {"status": "schema_error", "detail": "legs and start"}
    now = inputs["start"]
    for number, (first, every, ride) in enumerate(inputs["legs"]):
        ready = now + (CHANGE if number else 0) + (EDGE == "missed")
        waits = max(0, -((first - ready) // every))
        now = first + waits * every + ride
    return now
