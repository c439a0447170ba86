"""Blocks of 6 of 11 points, so that any 5 points are in one."""

from itertools import combinations


def build(case):
    """Return the blocks: in order, those that have 5 points which are in none before."""
    blocks = []
    together = set()
    for block in combinations(range(11), 6):
        new = set(combinations(block, 5)) - together
        if new:
            blocks.append(list(block))
            together |= new
    return blocks
