"""A validator of a constraint world that asks a SAT solver."""

KINDS = {}
__answer__ = __bind__ = __constants__ = __constraints__ = __detail__ = __exclusive__ = __given__ = __keys__ = None
__numbers__ = __values__ = None
# --- program ---
"""SAT: a variable for each thing and value; a solver lists the models, or is asked whether one exists."""

from itertools import combinations, permutations

from pysat.solvers import Minisat22

__constants__
__constraints__


def models(clauses):
    with Minisat22(bootstrap_with=clauses) as solver:
        return list(solver.enum_models())


def possible(clauses, literals):
    with Minisat22(bootstrap_with=clauses) as solver:
        return solver.solve(assumptions=literals)


def solution(inputs):
    if not isinstance(inputs, dict) or __keys__ - set(inputs):
        return {"status": "schema_error", "detail": __detail__}
    names, ask = inputs["names"], inputs["ask"]
    count = len(names)
    __bind__
    more = (__numbers__,)
    clues = [*inputs["clues"], ["law", *inputs["marked"]]]
    S, V = list(range(count)), list(__values__)
    given = (__given__)

    def X(e, v):
        return 1 + e * len(V) + V.index(v)

    clauses = [[X(e, v) for v in V] for e in S] + [[-X(e, v), -X(e, w)] for e in S for v, w in combinations(V, 2)]
    __exclusive__
    for kind, *args in clues:
        clauses += KINDS[kind](X, V, S, *given, *args)
    __answer__
