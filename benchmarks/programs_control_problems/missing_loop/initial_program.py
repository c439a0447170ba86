"""Cube roots."""


# EVOLVE-BLOCK-START
def cube_root(number):
    """Return a number near the cube root."""
    root = 0.5 + 0.2 * number
    root = root - (root * root * root - number) / (3 * root * root)
    return root
# EVOLVE-BLOCK-END
