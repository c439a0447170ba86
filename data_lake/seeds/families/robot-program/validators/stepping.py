"""Step by step, with a set of all points."""

BETWEEN = "keep"
ASKED = "all"


def solution(inputs):
    try:
        program, times = inputs["program"], range(inputs["times"])
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "program and times"}
    place, ahead = 0 + 0j, 1j
    been = {place}
    for run in times:
        if BETWEEN == "north":
            ahead = 1j
        if BETWEEN == "about" and run > 0:
            ahead = -ahead
        for side, steps in program:
            ahead *= 1j if side == "left" else -1j
            for _ in range(steps):
                place += ahead
                been.add(place)
    return len(been) if ASKED == "all" else len([point for point in been if point.real == 0])
