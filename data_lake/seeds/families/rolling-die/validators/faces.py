"""All six faces by name; every roll passes four of them round."""

FACE = "top"
FIRST = "skip"
RINGS = {
    "N": ("top", "north", "bottom", "south"), "S": ("top", "south", "bottom", "north"),
    "E": ("top", "east", "bottom", "west"), "W": ("top", "west", "bottom", "east"),
}


def solution(inputs):
    try:
        moves, times = list(inputs["moves"]), range(inputs["times"])
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "moves and times"}
    shown = {"top": 1, "bottom": 6, "north": 2, "south": 5, "east": 3, "west": 4}
    written = [shown[FACE]] if FIRST == "write" else []
    for _ in times:
        for move in moves:
            ring = RINGS[move]
            numbers = [shown[name] for name in ring]
            for place, number in enumerate(numbers):
                shown[ring[(place + 1) % 4]] = number
            written.append(shown[FACE])
    return sum(written)
