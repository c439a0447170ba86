"""27 points of the plane, many of which are 1 apart.

[a, b, c, d] is the complex number a + b w + (c + d w) e with w = (1 + i root(3)) / 2 and e = (5 + i root(11)) / 6.
"""


def build(case):
    """Return the points: a part of a triangular lattice."""
    return [[a, b, 0, 0] for a in range(9) for b in range(3)]
