"""A validator of chains that asks a SAT solver."""

MEET = TURN = ""
__answer__ = __constants__ = None
# --- program ---
"""A variable for each stone, way and place of the row."""

from itertools import combinations

from pysat.solvers import Minisat22

__constants__


def solution(inputs):
    count = len(inputs["stones"])
    laid = []
    for letter, first, second in inputs["stones"]:
        laid += [(letter, first, second)] if TURN != "back" else []
        laid += [(letter, second, first)] if TURN != "ahead" else []
    at = [[1 + place * len(laid) + number for number in range(len(laid))] for place in range(count)]
    clauses = [*map(list, at), *([-x, -y] for row in at for x, y in combinations(row, 2))]
    for letter in {item[0] for item in laid}:
        same = [number for number, item in enumerate(laid) if item[0] == letter]
        clauses.append([at[place][number] for place in range(count) for number in same])
    gap = {"same": lambda x, y: y - x, "step": lambda x, y: (y - x) ** 2 - 1, "sum": lambda x, y: x + y - 7}[MEET]
    for x, before in enumerate(laid):
        for y, after in enumerate(laid):
            if gap(before[2], after[1]) != 0:
                clauses += [[-at[place][x], -at[place + 1][y]] for place in range(count - 1)]
    with Minisat22(bootstrap_with=clauses) as solver:
        if not solver.solve():
            raise ValueError("no model")
        true = {literal for literal in solver.get_model() if literal > 0}
    found = [laid[next(number for number, literal in enumerate(row) if literal in true)] for row in at]
    __answer__
