"""A validator of a field that compares areas."""

BORDER = ""
__answer__ = __constants__ = None
# --- program ---
"""The areas of the three triangles that a point makes with the corners."""

__constants__


def doubled_area(p, q, r):
    return abs(p[0] * (q[1] - r[1]) + q[0] * (r[1] - p[1]) + r[0] * (p[1] - q[1]))


def solution(inputs):
    one, two, three = corners = [tuple(corner) for corner in inputs["corners"]]
    whole = doubled_area(one, two, three)
    limit = max(map(max, corners))

    def within(point):
        parts = [doubled_area(point, two, three), doubled_area(one, point, three), doubled_area(one, two, point)]
        if sum(parts) != whole:
            return False
        if point in corners:
            return BORDER == "inside"
        return all(parts) or BORDER != "outside"

    __answer__
