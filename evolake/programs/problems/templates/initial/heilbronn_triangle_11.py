"""11 points in the triangle (0, 0), (1, 0), (0, 1) whose smallest triangle is as large as possible."""


# EVOLVE-BLOCK-START
def build(case):
    """Return the points as [x, y]."""
    return [
        [0.05, 0.12], [0.31, 0.02], [0.72, 0.05], [0.02, 0.55], [0.14, 0.83], [0.22, 0.29],
        [0.41, 0.22], [0.55, 0.38], [0.3, 0.62], [0.85, 0.13], [0.13, 0.42],
    ]
# EVOLVE-BLOCK-END
