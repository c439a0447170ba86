"""The largest squared distance of 16 points in the plane over the smallest."""

from points import squared_distance_ratio


def cases(seed):
    """One: there is nothing to vary."""
    return [0]


def score(cases, results):
    """Return the metrics of what the program returned."""
    return squared_distance_ratio(results, 16, 2)
