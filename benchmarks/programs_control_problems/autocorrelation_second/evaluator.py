"""The bound that a step function gives of the second autocorrelation inequality."""

from autocorrelation import second_constant


def cases(seed):
    """One: there is nothing to vary."""
    return [0]


def score(cases, results):
    """Return the metrics of what the program returned."""
    return second_constant(results)
