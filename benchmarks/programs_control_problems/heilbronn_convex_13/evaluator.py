"""The smallest triangle of 13 points, as a share of their convex hull."""

from points import heilbronn_in_hull


def cases(seed):
    """One: there is nothing to vary."""
    return [0]


def score(cases, results):
    """Return the metrics of what the program returned."""
    return heilbronn_in_hull(results, 13)
