"""11 unit regular hexagons in a regular hexagon that is as small as possible."""

import math


# EVOLVE-BLOCK-START
def build(case):
    """Return [x, y, angle] of each: columns of a lattice that is a little wider than it has to be."""
    columns = [(-1, 4), (0, 4), (1, 3)]
    wide = 1.56
    high = 1.8
    hexagons = []
    for column, count in columns:
        for k in range(count):
            x = 0.2 + wide * column
            y = high * (k - 1.5) + 0.5 * high * (column % 2)
            hexagons.append([x, y, 0.0 * math.pi])
    return hexagons
# EVOLVE-BLOCK-END
