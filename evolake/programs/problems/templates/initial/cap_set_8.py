"""Vectors of 8 numbers modulo 3, no three different ones of which add up to 0. A vector is a number: its digits in base 3."""


def build(case):
    """Return the numbers of all vectors without a 2."""
    numbers = [0]
    for place in range(8):
        numbers = numbers + [number + 3**place for number in numbers]
    return numbers
