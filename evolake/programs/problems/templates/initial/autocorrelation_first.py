"""A step function f >= 0 on [-1/4, 1/4] whose autoconvolution has the smallest largest value, for its integral."""


# EVOLVE-BLOCK-START
def build(case):
    """Return the heights: low in the middle, and higher towards both ends."""
    heights = []
    for k in range(40):
        x = (k + 0.5) / 20 - 1
        heights.append(1.0 + 0.2 * x + 0.3 * x * x)
    return heights
# EVOLVE-BLOCK-END
