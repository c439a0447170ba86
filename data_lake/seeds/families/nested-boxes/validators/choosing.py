"""Build every nest from the inside, box by box."""

from itertools import permutations

FITS = "smaller"
TURNING = "fixed"


def inside(small, large):
    """Whether the first box goes into the second, in some position that is allowed."""
    positions = permutations(small) if TURNING == "turned" else [small]
    for position in positions:
        smaller = sum(one < other for one, other in zip(position, large, strict=True))
        larger = sum(one > other for one, other in zip(position, large, strict=True))
        if smaller == 3 or (FITS == "flat" and smaller and not larger):
            return True
    return False


def solution(inputs):
    try:
        boxes, chain = inputs["boxes"], inputs["chain"]
        around = [[number for number, large in enumerate(boxes) if inside(small, large)] for small in boxes]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "boxes and chain"}
    found, unfinished = 0, [(number, 1) for number in range(len(boxes))]
    while unfinished:
        outermost, size = unfinished.pop()
        if size == chain:
            found += 1
        else:
            unfinished += [(larger, size + 1) for larger in around[outermost]]
    return found
