"""Along each direction the ball goes round a ring of places; the ring is written out once and the steps are counted along it."""

from math import prod

WALL = "mirror"
TURN = 0
ASKED = "area"


def steps_taken(seconds):
    """Seconds of motion forwards less those of motion backwards."""
    if TURN == 0:
        return seconds
    moved, direction = 0, 1
    left, first = seconds, True
    while left > 0:
        part = min(left, abs(TURN))
        moved += direction * (part if TURN > 0 or first else max(0, part - 2))
        direction = -direction if TURN > 0 else direction
        left, first = left - part, False
    return moved


def solution(inputs):
    if not isinstance(inputs, dict) or not all(key in inputs for key in ("size", "start", "speed", "seconds")):
        return {"status": "schema_error", "detail": "size, start, speed, seconds"}
    answer = []
    for axis in (0, 1):
        length = inputs["size"][axis]
        ring = [*range(length), *range(length, 0, -1)] if WALL == "mirror" else list(range(length))
        begin = ring.index(inputs["start"][axis])
        answer.append(ring[(begin + inputs["speed"][axis] * steps_taken(inputs["seconds"])) % len(ring)])
    if ASKED == "area":
        return prod(answer)
    if ASKED == "walls":
        return sum(answer)
    return sum((end - begin) ** 2 for begin, end in zip(inputs["start"], answer, strict=True))
