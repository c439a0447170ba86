"""The primary of a field."""

BORDER = ""
__answer__ = __constants__ = None
# --- program ---
"""On which side of each edge a point is."""

__constants__


def holds(corners, x, y):
    sides = []
    for (a, b), (c, d) in zip(corners, corners[1:] + corners[:1]):
        sides.append((c - a) * (y - b) - (d - b) * (x - a))
    if min(sides) < 0 < max(sides):
        return False
    if 0 not in sides:
        return True
    if BORDER == "corners":
        return sides.count(0) == 1
    return BORDER == "inside"


def solution(inputs):
    corners = inputs["corners"]
    wide, high = (max(corner[axis] for corner in corners) for axis in (0, 1))
    __answer__
