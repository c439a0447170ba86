"""Closed form: the seconds in which it really gets ahead, then the straight line folded back between the walls."""

WALL = "mirror"
TURN = 0
ASKED = "area"


def ahead(seconds):
    """For how many seconds it has moved on from the start."""
    if TURN > 0:
        rounds, rest = divmod(seconds, TURN)
        return TURN - rest if rounds % 2 else rest
    if TURN < 0:
        rounds, rest = divmod(seconds, -TURN)
        return seconds if rounds == 0 else -TURN + (rounds - 1) * (-TURN - 2) + max(0, rest - 2)
    return seconds


def solution(inputs):
    if not isinstance(inputs, dict) or {"size", "start", "speed", "seconds"} - set(inputs):
        return {"status": "schema_error", "detail": "size, start, speed, seconds"}
    time = ahead(inputs["seconds"])
    place = []
    for length, start, speed in zip(inputs["size"], inputs["start"], inputs["speed"], strict=True):
        if WALL == "mirror":
            unfolded = (start + speed * time) % (2 * length)
            place.append(min(unfolded, 2 * length - unfolded))
        else:
            place.append((start + speed * time) % length)
    x, y = place
    if ASKED == "square":
        return (x - inputs["start"][0]) ** 2 + (y - inputs["start"][1]) ** 2
    return x * y if ASKED == "area" else x + y
