"""Points in the plane or in space, measured exactly."""

from itertools import combinations, pairwise

from exact import MARGIN, at_least, at_most, output_of, table


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


def heilbronn_in_hull(results, count):
    """Return the area of the smallest triangle of `count` points, as a share of their convex hull; 0 if invalid."""
    rows = table(output_of(results), count, 2)
    if rows is None:
        return {"area": 0.0}
    corners = hull([tuple(row) for row in rows])
    whole = sum(twice_area(corners[0], *pair) for pair in pairwise(corners))
    return {"area": at_most(smallest_twice_area(rows) / whole) if whole else 0.0}


WORST_RATIO = 1e6


def squared_distance_ratio(results, count, dimensions):
    """Return the largest squared distance of two of `count` points over the smallest; WORST_RATIO if two are the same, or the output is invalid."""
    rows = table(output_of(results), count, dimensions)
    if rows is None:
        return {"ratio": WORST_RATIO}
    squares = [sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) for one, other in combinations(rows, 2)]
    return {"ratio": min(at_least(max(squares) / min(squares)), WORST_RATIO) if min(squares) else WORST_RATIO}
