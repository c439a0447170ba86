"""Rows of 16 symbols 0, 1 and 2, so that any 3 columns have every combination."""

from itertools import combinations


def build(case):
    """Return the rows: drawn by chance, those that have a combination which none before has."""
    state = 7
    rows = []
    seen = set()
    chosen = list(combinations(range(16), 3))
    while len(seen) < 27 * len(chosen):
        row = []
        for _ in range(16):
            state = state * 1103515245 % 2**31 + 12345
            row.append(state // 65536 % 3)
        new = {(some, row[some[0]], row[some[1]], row[some[2]]) for some in chosen} - seen
        if new:
            rows.append(row)
            seen |= new
    return rows
