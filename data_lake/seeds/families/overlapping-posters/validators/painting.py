"""Column after column of one decimetre: where the number of posters changes along it."""

from collections import Counter

CORNER = "lower"
LAYERS = "least"


def solution(inputs):
    try:
        posters, layers = inputs["posters"], inputs["layers"]
        sign = 0 if CORNER == "lower" else 1
        boxes = [(x - sign * width, y - sign * height, width, height) for x, y, width, height in posters]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "posters and layers"}
    changes = {}
    for x, y, width, height in boxes:
        for column in range(x, x + width):
            steps = changes.setdefault(column, Counter())
            steps[y] += 1
            steps[y + height] -= 1
    area = 0
    for steps in changes.values():
        count, since = 0, 0
        for place in sorted(steps):
            if (count >= layers) if LAYERS == "least" else (count == layers):
                area += place - since
            count, since = count + steps[place], place
    return area
