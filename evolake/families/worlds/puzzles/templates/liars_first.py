"""A validator of liars that asks a SAT solver."""

KNOWN = ""
WORD = ()
__answer__ = __constants__ = None
# --- program ---
"""A variable for each that is honest; what somebody says holds exactly if the variable does."""

from itertools import product

from pysat.solvers import Minisat22

__constants__


def equivalence(who, kind, some):
    """Clauses for: who is honest exactly if the sentence is true."""
    if kind in ("liar", "honest"):
        [one] = some
        sign = 1 if kind == "honest" else -1
        return [[-who, sign * one], [who, -sign * one]]
    a, b = some
    if kind == "one":
        return [[-who, -a, -b], [who, a], [who, b]]
    sign = 1 if kind == "same" else -1
    return [[-who * sign, -a, b], [-who * sign, a, -b], [who * sign, a, b], [who * sign, -a, -b]]


def solution(inputs):
    names = inputs["names"]
    number = {name: place for place, name in enumerate(names, start=1)}
    clauses = [clause for who, kind, *some in inputs["says"] for clause in equivalence(number[who], kind, [number[one] for one in some])]
    for signs in product((1, -1), repeat=len(names)):
        lying = signs.count(-1)
        if not {"odd": lying & 1, "even": not lying & 1, "fewer": lying + lying > len(names)}[KNOWN]:
            clauses.append([-sign * place for place, sign in enumerate(signs, start=1)])
    with Minisat22(bootstrap_with=clauses) as solver:
        if not solver.solve():
            return {"status": "schema_error", "detail": "no model"}
        truth = {name: solver.get_model()[number[name] - 1] > 0 for name in names}
    __answer__
