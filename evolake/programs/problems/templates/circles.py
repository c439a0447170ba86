"""Circles in a rectangle, checked exactly; the score is the sum of their radii."""

from exact import MARGIN, at_most, output_of, places, table

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


def smooth_radii(output, *, rightmost=None):
    """Return (terms, limits) for a polish: the sum of the radii, and what must not be below 0.

    rightmost: number of the circle whose right end is the rectangle's, which has a perimeter of 4; None: the unit square.
    """
    import numpy as np

    x, y, r = np.asarray(output, float).T
    one, other = places(len(x), 2)
    apart = np.hypot(x[one] - x[other], y[one] - y[other]) - r[one] - r[other]
    width = 1 if rightmost is None else x[rightmost] + r[rightmost]
    return [r.sum()], np.concatenate([apart, x - r, y - r, width - x - r, (1 if rightmost is None else 2 - width) - y - r, r])


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
