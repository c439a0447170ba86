"""A graph no five of whose vertices are all joined or all apart."""


def build(case):
    """Return 1 for each pair that is joined, else 0, in the order (0, 1), (0, 2), (1, 2), (0, 3), ...: numbers modulo a prime, joined if their difference is a square."""
    prime = 17
    squares = {x * x % prime for x in range(1, prime)}
    return [int((other - one) % prime in squares) for other in range(prime) for one in range(other)]
