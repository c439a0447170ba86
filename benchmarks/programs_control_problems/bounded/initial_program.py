"""Eight bars."""


# EVOLVE-BLOCK-START
def bars():
    """Return how thick each bar is."""
    return [6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0]
# EVOLVE-BLOCK-END
