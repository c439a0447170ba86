"""A validator of days that asks a SAT solver."""

APART = LOAD = ""
__answer__ = __constants__ = None
# --- program ---
"""A variable for each event and day; models are listed until one is balanced."""

from itertools import combinations, product

from pysat.solvers import Minisat22

__constants__


def solution(inputs):
    names, size, width = inputs["names"], len(inputs["names"]), inputs["days"]
    grid = [[1 + place * width + column for column in range(width)] for place in range(size)]
    clauses = [*grid, *([-a, -b] for row in grid for a, b in combinations(row, 2))]
    bad = {"different": (0,), "spaced": (-1, 0, 1), "earlier": range(-width, 1)}[APART]
    for one, other in inputs["pairs"]:
        a, b = grid[names.index(one)], grid[names.index(other)]
        clauses += [[-a[i], -b[j]] for i, j in product(range(width), repeat=2) if j - i in bad]
    columns = list(zip(*grid))
    if LOAD == "most":
        clauses += [[-literal for literal in four] for column in columns for four in combinations(column, 4)]
    if LOAD == "used":
        clauses += [list(column) for column in columns]
    with Minisat22(bootstrap_with=clauses) as solver:
        for model in solver.enum_models():
            true = {literal for literal in model if literal > 0}
            if LOAD != "ends" or len(true & set(columns[0])) == len(true & set(columns[-1])):
                break
        else:
            raise ValueError("no model is balanced")
    chosen = {place: 1 + next(column for column, literal in enumerate(row) if literal in true) for place, row in enumerate(grid)}
    __answer__
