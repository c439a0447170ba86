"""Additions that lead from 1 to 2**255 - 21."""


def build(case):
    """Return pairs [i, j]: the next number is the sum of number i and number j, and number 0 is 1. Double, and add 1 for each bit."""
    pairs = []
    for bit in bin(2**255 - 21)[3:]:
        pairs.append([len(pairs), len(pairs)])
        if bit == "1":
            pairs.append([len(pairs), 0])
    return pairs
