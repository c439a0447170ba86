"""A sum of ten bumps."""

import math

# EVOLVE-BLOCK-START
BUMPS = [
    (1.0, 0.5, 0.5), (-1.0, 1.5, 0.5), (1.0, 2.5, 0.5), (1.0, 3.5, 0.5), (-1.0, 4.5, 0.5),
    (1.0, 5.5, 0.5), (1.0, 6.5, 0.5), (-1.0, 7.5, 0.5), (1.0, 8.5, 0.5), (1.0, 9.5, 0.5),
]
# EVOLVE-BLOCK-END


def heights(points):
    """Return the sum at each point."""
    return [sum(size * math.exp(-(((x - place) / width) ** 2)) for size, place, width in BUMPS) for x in points]
