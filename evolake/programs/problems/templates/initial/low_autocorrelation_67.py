"""67 signs, which are like no shift of themselves."""


def build(case):
    """Return the signs: of squares modulo a prime, shifted."""
    prime = 67
    squares = {x * x % prime for x in range(1, prime)}
    shift = 10
    return [1 if (k + shift) % prime in squares else -1 for k in range(prime)]
