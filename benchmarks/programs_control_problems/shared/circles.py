"""Circles in a rectangle, checked exactly; the score is the sum of their radii."""

from exact import MARGIN, at_most, output_of, table

INVALID = {"radii": 0.0, "smallest": 0.0}


def sum_of_radii(results, count, *, perimeter=None):
    """Return the sum of the radii of `count` disjoint circles [x, y, radius], and the smallest radius; 0 for both if the packing is invalid.

    They lie in the unit square; if a perimeter is given, in any rectangle of that perimeter. Each radius is made smaller by MARGIN before.
    """
    rows = table(output_of(results), count, 3)
    if rows is None or any(radius < 0 for _, _, radius in rows):
        return INVALID
    circles = [(x, y, radius * (1 - MARGIN)) for x, y, radius in rows]
    if not (disjoint(circles) and (in_rectangle(circles, perimeter) if perimeter else in_square(circles))):
        return INVALID
    radii = [radius for _, _, radius in circles]
    return {"radii": at_most(sum(radii)), "smallest": at_most(min(radii))}


def disjoint(circles):
    """Return whether no two circles have more than a point in common."""
    return all(
        (x - u) ** 2 + (y - v) ** 2 >= (radius + other) ** 2
        for place, (x, y, radius) in enumerate(circles) for u, v, other in circles[:place]
    )


def in_square(circles):
    """Return whether all circles lie in the unit square."""
    return all(radius <= min(x, y, 1 - x, 1 - y) for x, y, radius in circles)


def in_rectangle(circles, perimeter):
    """Return whether the smallest rectangle around all circles has at most that perimeter."""
    width = max(x + r for x, _, r in circles) - min(x - r for x, _, r in circles)
    height = max(y + r for _, y, r in circles) - min(y - r for _, y, r in circles)
    return 2 * (width + height) <= perimeter
