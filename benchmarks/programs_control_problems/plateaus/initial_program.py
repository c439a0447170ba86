"""A rule."""


# EVOLVE-BLOCK-START
def kind(x, y, z):
    """Return 0, 1 or 2."""
    if x + 0.1 * y > 0.4:
        if z > 0.8:
            return 2
        return 1
    if z - 0.1 * x > 0.95:
        return 2
    return 0
# EVOLVE-BLOCK-END
