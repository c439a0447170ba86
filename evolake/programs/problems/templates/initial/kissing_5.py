"""Directions in 5 dimensions, as whole numbers, no two of which are less than 60 degrees apart."""


def build(case):
    """Return the vectors: both ways along each axis."""
    vectors = []
    for axis in range(5):
        for way in (1, -1):
            vectors.append([way if place == axis else 0 for place in range(5)])
    return vectors
