"""A step function f >= 0 whose autoconvolution is as flat as possible."""


# EVOLVE-BLOCK-START
def build(case):
    """Return the heights of 24 steps."""
    return [
        1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0,
        1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0,
    ]
# EVOLVE-BLOCK-END
