"""Cut the wall along all edges; each piece lies wholly under a poster or wholly beside it."""

from itertools import pairwise

CORNER = "lower"
LAYERS = "least"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("posters"), list) or not isinstance(inputs.get("layers"), int):
        return {"status": "schema_error", "detail": "posters and layers"}
    boxes = []
    for x, y, width, height in inputs["posters"]:
        left, low = (x, y) if CORNER == "lower" else (x - width, y - height)
        boxes.append((left, low, left + width, low + height))
    columns = sorted({edge for box in boxes for edge in (box[0], box[2])})
    rows = sorted({edge for box in boxes for edge in (box[1], box[3])})
    area = 0
    for left, right in pairwise(columns):
        here = [box for box in boxes if box[0] <= left and right <= box[2]]
        for low, high in pairwise(rows):
            count = sum(box[1] <= low and high <= box[3] for box in here)
            if count == inputs["layers"] or (LAYERS == "least" and count > inputs["layers"]):
                area += (right - left) * (high - low)
    return area
