"""Each number is an arrow (east, north, up) from the middle of the die; a roll rotates all arrows about a horizontal axis."""

FACE = "top"
FIRST = "skip"
LOOKING = {"top": (0, 0, 1), "bottom": (0, 0, -1), "north": (0, 1, 0)}


def rotated(arrow, move):
    x, y, z = arrow
    turned = {"N": (x, z, -y), "S": (x, -z, y), "E": (z, y, -x), "W": (-z, y, x)}
    return turned[move]


def solution(inputs):
    if not isinstance(inputs, dict) or {"moves", "times"} - set(inputs):
        return {"status": "schema_error", "detail": "moves and times"}
    arrows = {1: (0, 0, 1), 6: (0, 0, -1), 2: (0, 1, 0), 5: (0, -1, 0), 3: (1, 0, 0), 4: (-1, 0, 0)}
    wanted = LOOKING[FACE]
    total = next(number for number, arrow in arrows.items() if arrow == wanted) if FIRST == "write" else 0
    for move in inputs["moves"] * inputs["times"]:
        arrows = {number: rotated(arrow, move) for number, arrow in arrows.items()}
        total += next(number for number, arrow in arrows.items() if arrow == wanted)
    return total
