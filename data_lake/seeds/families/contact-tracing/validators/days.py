"""Day by day, with the state of everybody: days until and days during which a person passes the illness on."""

DELAY = 1
LENGTH = 1000
ASKED = "saved"


def ill_in_the_end(count, meetings, first, absent):
    """A list of bools by person, from 1; entry 0 is no person."""
    waits, gives = [0] * (count + 1), [0] * (count + 1)
    ill = [False] * (count + 1)
    ill[first], waits[first], gives[first] = True, DELAY, LENGTH
    for today in range(1, max(day for day, _, _ in meetings) + 1):
        for person in range(1, count + 1):
            if waits[person]:
                waits[person] -= 1
            elif gives[person]:
                gives[person] -= 1
        new = set()
        for day, *pair in meetings:
            if day == today and absent not in pair:
                able = [ill[person] and not waits[person] and gives[person] > 0 for person in pair]
                if any(able):
                    new |= {person for person in pair if not ill[person]}
        for person in new:
            ill[person], waits[person], gives[person] = True, DELAY, LENGTH
    return ill


def solution(inputs):
    if not isinstance(inputs, dict) or {"count", "meetings", "first", "home"} - set(inputs):
        return {"status": "schema_error", "detail": "count, meetings, first, home"}
    world = (inputs["count"], inputs["meetings"], inputs["first"])
    real, other = ill_in_the_end(*world, 0), ill_in_the_end(*world, inputs["home"])
    if ASKED == "infected":
        return sum(ill for person, ill in enumerate(real) if person != inputs["home"])
    if ASKED == "saved":
        return real.count(True) - other.count(True)
    return other[1:].count(False)
