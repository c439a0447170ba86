"""A rate law."""

import math


# EVOLVE-BLOCK-START
def rate(heat, share):
    """Return the rate."""
    return 1.0e6 * math.exp(-3000.0 / heat) * share ** 1.0 + 1.0e-4 * heat
# EVOLVE-BLOCK-END
