"""Checks the packing circle by circle and sums the radii; the program runs in a jail of its own and never sees this."""

import math

COUNT = 26
TOUCH = 1e-9


def cases(seed):
    """One: there is nothing to vary."""
    return [COUNT]


def score(cases, results):
    """combined_score is the sum of radii; 0 where circles overlap or leave the square."""
    result = results[0]
    circles = result["output"]
    bad = {"combined_score": 0.0, "smallest": 0.0}
    if result["status"] != "ok" or not isinstance(circles, list) or len(circles) != COUNT:
        return bad
    for one in circles:
        if not (isinstance(one, list) and len(one) == 3 and all(isinstance(part, (int, float)) and math.isfinite(part) for part in one)):
            return bad
        x, y, radius = one
        if radius < 0 or min(x, y, 1 - x, 1 - y) < radius - TOUCH:
            return bad
    for i, (x, y, radius) in enumerate(circles):
        for u, v, other in circles[:i]:
            if math.hypot(x - u, y - v) < radius + other - TOUCH:
                return bad
    return {"combined_score": sum(radius for _, _, radius in circles), "smallest": min(radius for _, _, radius in circles)}


def smooth(output):
    """The sum of the radii, and what may not be below 0: gaps between circles and to the walls, and the radii. Only a polish asks."""
    import numpy as np

    x, y, radius = np.asarray(output, float).T
    i, j = np.triu_indices(len(x), 1)
    apart = np.hypot(x[i] - x[j], y[i] - y[j]) - radius[i] - radius[j]
    return [radius.sum()], np.concatenate([apart, x - radius, y - radius, 1 - x - radius, 1 - y - radius, radius])
