"""Points of a 61 by 61 grid, no three of which are in line."""


def build(case):
    """Return the points as [x, y]: a parabola modulo a prime."""
    prime = 47
    return [[x, x * x % prime] for x in range(prime)]
