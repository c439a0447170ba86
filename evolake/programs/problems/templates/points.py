"""Points in the plane or in space, measured exactly."""

from itertools import combinations, pairwise

from exact import MARGIN, at_least, at_most, output_of, places, table


def twice_area(a, b, c):
    """Return twice the area of a triangle."""
    return abs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def smallest_twice_area(points):
    """Return twice the area of the smallest triangle of three of the points."""
    return min(twice_area(*three) for three in combinations(points, 3))


def hull(points):
    """Return the corners of the convex hull, counterclockwise (Andrew's monotone chain)."""
    def half(ordered):
        chain = []
        for point in ordered:
            while len(chain) > 1 and turn(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        return chain[:-1]

    ordered = sorted(points)
    return half(ordered) + half(ordered[::-1])


def turn(a, b, c):
    """Return a positive number if a, b, c turn to the left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def heilbronn_in_triangle(results, count):
    """Return the area of the smallest triangle of `count` points, as a share of the triangle (0, 0), (1, 0), (0, 1) that they lie in; 0 if invalid.

    All shapes of triangle are alike for this problem. The points are drawn towards (1/4, 1/4) by MARGIN before.
    """
    rows = table(output_of(results), count, 2)
    if rows is None:
        return {"area": 0.0}
    points = [(x + (1 - 4 * x) * MARGIN / 4, y + (1 - 4 * y) * MARGIN / 4) for x, y in rows]
    if any(x < 0 or y < 0 or x + y > 1 for x, y in points):
        return {"area": 0.0}
    return {"area": at_most(smallest_twice_area(points))}


def heilbronn_in_square(results, count):
    """Return the area of the smallest triangle of `count` points in the unit square; 0 if invalid.

    The points are drawn towards the middle by MARGIN before.
    """
    rows = table(output_of(results), count, 2)
    if rows is None:
        return {"area": 0.0}
    points = [[value + (1 - 2 * value) * MARGIN / 2 for value in row] for row in rows]
    if not all(0 <= value <= 1 for row in points for value in row):
        return {"area": 0.0}
    return {"area": at_most(smallest_twice_area(points) / 2)}


def heilbronn_in_hull(results, count):
    """Return the area of the smallest triangle of `count` points, as a share of their convex hull; 0 if invalid."""
    rows = table(output_of(results), count, 2)
    if rows is None:
        return {"area": 0.0}
    corners = hull([tuple(row) for row in rows])
    whole = sum(twice_area(corners[0], *pair) for pair in pairwise(corners))
    return {"area": at_most(smallest_twice_area(rows) / whole) if whole else 0.0}


def smooth_areas(output, *, within="hull"):
    """Return (terms, limits) for a polish: the areas of all triangles, and of points within a triangle or the square what must not be below 0."""
    import numpy as np

    points = np.asarray(output, float)
    x, y = points.T
    a, b, c = places(len(x), 3)
    areas = np.abs((x[b] - x[a]) * (y[c] - y[a]) - (y[b] - y[a]) * (x[c] - x[a]))
    if within == "triangle":
        return areas, np.concatenate([x, y, 1 - x - y])
    if within == "square":
        return areas / 2, np.concatenate([x, y, 1 - x, 1 - y])
    corners = np.array(hull([tuple(point) for point in points.tolist()]))
    after = np.roll(corners, -1, axis=0)
    return areas / np.sum(corners[:, 0] * after[:, 1] - corners[:, 1] * after[:, 0]), []


def smooth_distances(output):
    """Return (terms, limits) for a polish: the squared distances below 0, the smallest of which is to be 1."""
    import numpy as np

    points = np.asarray(output, float)
    one, other = places(len(points), 2)
    squares = np.sum((points[one] - points[other]) ** 2, axis=1)
    return -squares, squares - 1


WORST_RATIO = 1e6


def squared_distance_ratio(results, count, dimensions):
    """Return the largest squared distance of two of `count` points over the smallest; WORST_RATIO if two are the same, or the output is invalid."""
    rows = table(output_of(results), count, dimensions)
    if rows is None:
        return {"ratio": WORST_RATIO}
    squares = [sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) for one, other in combinations(rows, 2)]
    return {"ratio": min(at_least(max(squares) / min(squares)), WORST_RATIO) if min(squares) else WORST_RATIO}
