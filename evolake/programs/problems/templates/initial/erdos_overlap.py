"""A step function on [0, 2] with values in [0, 1] and integral 1, which overlaps little with what is left to 1."""


def build(case):
    """Return the heights: low at both ends."""
    heights = []
    for k in range(30):
        x = (k + 0.5) / 15 - 1
        heights.append(0.55 - 0.15 * x * x)
    return heights
