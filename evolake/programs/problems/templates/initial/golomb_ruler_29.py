"""A ruler with 29 marks, all distances of which differ."""


def build(case):
    """Return the marks: steps that grow by a square modulo a prime."""
    prime = 29
    return [2 * prime * k + k * k % prime for k in range(prime)]
