"""Second by second and centimetre by centimetre."""

WALL = "mirror"
TURN = 0
ASKED = "area"


def advance(at, speed, length):
    """One second along one direction: the place and the speed after it."""
    for _ in range(abs(speed)):
        if WALL == "mirror" and not 0 <= at + (1 if speed > 0 else -1) <= length:
            speed = -speed
        at += 1 if speed > 0 else -1
        if WALL != "mirror":
            at = 0 if at == length else length - 1 if at < 0 else at
    return at, speed


def solution(inputs):
    try:
        (width, height), (x, y), (right, up), seconds = (inputs[key] for key in ("size", "start", "speed", "seconds"))
    except (TypeError, KeyError, ValueError):
        return {"status": "schema_error", "detail": "size, start, speed, seconds"}
    for second in range(seconds):
        if TURN > 0 and second and second % TURN == 0:
            right, up = -right, -up
        if TURN < 0 and second >= -TURN and second % -TURN < 2:
            continue
        x, right = advance(x, right, width)
        y, up = advance(y, up, height)
    if ASKED == "square":
        across, along = abs(x - inputs["start"][0]), abs(y - inputs["start"][1])
        return across * across + along * along
    return {"area": x * y, "walls": x + y}[ASKED]
