"""A filter for a noisy gauge."""


# EVOLVE-BLOCK-START
def smoothed(before, gauge):
    """Return a value between the one before and the gauge's."""
    return 0.95 * before + 0.05 * gauge
# EVOLVE-BLOCK-END
