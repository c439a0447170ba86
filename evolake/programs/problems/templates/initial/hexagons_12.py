"""12 unit regular hexagons in a regular hexagon that is as small as possible."""


# EVOLVE-BLOCK-START
def build(case):
    """Return [x, y, angle] of each."""
    return [
        [-1.6, -2.7, 0.0], [-1.6, -0.9, 0.0], [-1.6, 0.9, 0.0], [-1.6, 2.7, 0.0],
        [0.0, -3.6, 0.0], [0.0, -1.8, 0.0], [0.0, 0.0, 0.0], [0.0, 1.8, 0.0],
        [1.6, -2.7, 0.0], [1.6, -0.9, 0.0], [1.6, 0.9, 0.0], [1.6, 2.7, 0.0],
    ]
# EVOLVE-BLOCK-END
