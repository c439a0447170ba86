"""Inclusion and exclusion over the common parts of every set of posters that has one."""

from math import comb

CORNER = "lower"
LAYERS = "least"


def common_areas(boxes, first, box, size, sums):
    """Add the area of the common part of every set that extends this one by later posters."""
    for number in range(first, len(boxes)):
        other = boxes[number]
        part = (max(box[0], other[0]), max(box[1], other[1]), min(box[2], other[2]), min(box[3], other[3]))
        if part[0] < part[2] and part[1] < part[3]:
            sums[size + 1] += (part[2] - part[0]) * (part[3] - part[1])
            common_areas(boxes, number + 1, part, size + 1, sums)


def solution(inputs):
    if not isinstance(inputs, dict) or {"posters", "layers"} - set(inputs):
        return {"status": "schema_error", "detail": "posters and layers"}
    boxes = [
        (x, y, x + width, y + height) if CORNER == "lower" else (x - width, y - height, x, y) for x, y, width, height in inputs["posters"]
    ]
    everything = (-(10**9), -(10**9), 10**9, 10**9)
    sums = [0] * (len(boxes) + 1)
    common_areas(boxes, 0, everything, 0, sums)
    wanted = inputs["layers"]
    area = 0
    for size in range(wanted, len(boxes) + 1):
        ways = comb(size, wanted) if LAYERS == "exactly" else comb(size - 1, wanted - 1)
        area += (-1) ** (size - wanted) * ways * sums[size]
    return area
