"""The bound that a step function gives of the third autocorrelation inequality."""

from autocorrelation import third_constant


def cases(seed):
    """One: there is nothing to vary."""
    return [0]


def score(cases, results):
    """Return the metrics of what the program returned."""
    return third_constant(results)
