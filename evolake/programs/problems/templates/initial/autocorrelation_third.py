"""A step function f on [-1/4, 1/4], of any sign, whose autoconvolution has the smallest largest absolute value, for its integral."""

import math


# EVOLVE-BLOCK-START
def build(case):
    """Return the heights: a sum of waves."""
    waves = [(0.3, 3.0, 0.0), (0.2, 7.0, 0.5), (0.1, 12.0, 1.0)]
    heights = []
    for k in range(30):
        x = (k + 0.5) / 30
        height = 1.0
        for size, pace, shift in waves:
            height = height + size * math.cos(pace * x + shift)
        heights.append(height)
    return heights
# EVOLVE-BLOCK-END
