"""A curve with eight numbers."""

import math


# EVOLVE-BLOCK-START
def curve(x):
    """Return the curve's value."""
    wave = 1.0 * math.exp(-0.1 * x) * math.sin(1.2 * x + 0.1)
    return wave + 0.5 * math.cos(0.8 * x) + 0.02 * x + 0.3
# EVOLVE-BLOCK-END
