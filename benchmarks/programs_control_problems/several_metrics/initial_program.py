"""A sine."""


# EVOLVE-BLOCK-START
def sine(x):
    """Return the sine of an angle from 0 to half of pi."""
    square = x * x
    cube = square * x
    return x * 0.9 - cube * 0.1 + cube * square * 0.001
# EVOLVE-BLOCK-END
