"""The smallest triangle of 11 points in a triangle, as a share of it."""

from points import heilbronn_in_triangle


def cases(seed):
    """One: there is nothing to vary."""
    return [0]


def score(cases, results):
    """Return the metrics of what the program returned."""
    return heilbronn_in_triangle(results, 11)
