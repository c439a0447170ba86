"""Covering designs and covering arrays: everything of a kind is to occur somewhere, in as few blocks or rows as possible."""

from itertools import combinations
from math import comb

from exact import output_of, whole

WORST = 1_000_000


def design_blocks(results, points, size, strength):
    """Return the number of blocks of `size` points, if each `strength` of all points are together in one; else WORST."""
    blocks = whole(output_of(results), 0, points - 1, size)
    if blocks is None or any(len(set(block)) < size for block in blocks):
        return {"blocks": WORST}
    together = {some for block in blocks for some in combinations(sorted(block), strength)}
    return {"blocks": len(blocks) if len(together) == comb(points, strength) else WORST}


def array_rows(results, columns, strength, symbols):
    """Return the number of rows, if in each `strength` of the columns every combination of symbols occurs; else WORST."""
    rows = whole(output_of(results), 0, symbols - 1, columns)
    if not rows:
        return {"rows": WORST}
    chosen = combinations(zip(*rows, strict=True), strength)
    every = all(len(set(zip(*some, strict=True))) == symbols**strength for some in chosen)
    return {"rows": len(rows) if every else WORST}
