"""Try sets of buttons, from the smallest size up or from the largest down."""

from itertools import combinations

AIM = "off"
WANTED = "fewest"


def solution(inputs):
    try:
        lamps, buttons, on, hidden = inputs["lamps"], [set(row) for row in inputs["buttons"]], set(inputs["on"]), inputs["hidden"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "lamps, buttons, on, hidden"}
    seen = set(range(1, lamps + 1)) - {hidden}
    sizes = range(len(buttons) + 1)
    for size in sizes if WANTED == "fewest" else reversed(sizes):
        for chosen in combinations(buttons, size):
            state = set(on)
            for row in chosen:
                state ^= row
            if not state & seen or (AIM == "same" and seen <= state):
                return size
    return {"status": "schema_error", "detail": "the aim cannot be reached"}
