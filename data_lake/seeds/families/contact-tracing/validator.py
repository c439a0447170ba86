"""The meetings in order of time, once with person P and once without."""

DELAY = 1
LENGTH = 1000
ASKED = "saved"


def infected(meetings, first):
    since = {first: 0}
    for day, one, other in sorted(meetings):
        for giver, taker in ((one, other), (other, one)):
            if giver in since and taker not in since and 0 <= day - since[giver] - DELAY < LENGTH:
                since[taker] = day
    return set(since)


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("meetings"), list) or {"count", "first", "home"} - set(inputs):
        return {"status": "schema_error", "detail": "count, meetings, first, home"}
    home = inputs["home"]
    real = infected(inputs["meetings"], inputs["first"])
    if ASKED == "infected":
        return len(real - {home})
    other_world = infected([meeting for meeting in inputs["meetings"] if home not in meeting[1:]], inputs["first"])
    return len(real) - len(other_world) if ASKED == "saved" else inputs["count"] - len(other_world)
