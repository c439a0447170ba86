"""A validator of a queue that asks a SAT solver."""

KINDS = {}
NEXT = LEAVE = PACE = None
__answer__ = __constants__ = __people__ = __rules__ = None
# --- program ---
"""Clauses say what may be in each minute, and a SAT solver finds the course."""

from itertools import combinations

from pysat.solvers import Minisat22

FOREVER = 10**6
__constants__
__rules__


def barred(others, need, card):
    """The least number of others that somebody does not bear to find on arriving; None where any is borne."""
    return next((k for k in range(others + 1) if KINDS[LEAVE](-1, k, need, card)), None)


def allowed(people, t, i):
    """(minutes served, minutes closed after it) of a service that begins in minute t."""
    come, need, card = people[i]
    return next((s, c) for s in range(need + 1, 0, -1) for c in range(4) if KINDS[PACE](s, c, t, t - come, need, card))


def unrolled(people, desks, minutes, L):
    n = len(people)
    for i, (come, need, card) in enumerate(people):
        yield from ([-L(kind, i, t)] for kind in ("begins", "waits") for t in minutes if t < come)
        at = [L("waits", j, come - 1) for j in range(i)] if come > 1 else []
        k = barred(len(at), need, card)
        if k is None:
            yield [L("joins", i, 0)]
        else:
            yield from ([*(-one for one in some), -L("joins", i, 0)] for some in combinations(at, k))
            yield from ([*some, L("joins", i, 0)] for some in combinations(at, len(at) - k + 1))
        for t in minutes:
            if t < come:
                continue
            there, begins, waits = L("joins", i, 0) if t == come else L("waits", i, t - 1), L("begins", i, t), L("waits", i, t)
            goes = KINDS[LEAVE](t - come, 0, need, card)
            yield from ([-begins, there], [-waits, there], [-waits, -begins], [-waits] if goes else [-there, begins, waits])
            yield [-there, begins, L("full", 0, t)]
            for j in range(n):
                if j != i and people[j][0] <= t and KINDS[NEXT](j, i, t, people):
                    here = L("joins", j, 0) if t == people[j][0] else L("waits", j, t - 1)
                    yield [-begins, -here, L("begins", j, t)]
        causes = {(kind, t): [] for kind in ("serves", "holds") for t in minutes}
        for s in range(come, minutes.stop):
            lasting, closed = allowed(people, s, i)
            for kind, more in (("serves", 0), ("holds", closed)):
                for t in range(s, min(s + lasting + more, minutes.stop)):
                    causes[kind, t].append(L("begins", i, s))
        for (kind, t), begun in causes.items():
            yield [-L(kind, i, t), *begun]
            yield from ([-one, L(kind, i, t)] for one in begun)
    for t in minutes:
        yield from counted([L("holds", i, t) for i in range(n) if people[i][0] <= t], desks, lambda k, i, t=t: L(k, i, t), L("full", 0, t))


def counted(held, desks, L, full):
    """No more desks are held than there are, and where `full` holds, all of them are. L(k, i): at least k are held by the first i persons."""
    yield from ([L(0, 0)], *([-L(k, 0)] for k in range(1, desks + 2)))
    for i, one in enumerate(held):
        for k in range(desks + 2):
            yield from ([-L(k, i), L(k, i + 1)], [-L(k, i + 1), L(k, i), one])
            if k:
                yield from ([-L(k - 1, i), -one, L(k, i + 1)], [-L(k, i + 1), L(k, i), L(k - 1, i)])
    yield from ([-L(desks + 1, len(held))], [-full, L(desks, len(held))])


def solution(inputs):
    if not isinstance(inputs, dict) or {"desks", "people", "ask"} - set(inputs):
        return {"status": "schema_error", "detail": "desks, people, ask"}
    ask, people = inputs["ask"], __people__
    n, desks = len(people), inputs["desks"]
    longest = [max(sum(allowed(people, t, i)) for t in (people[i][0], FOREVER)) + 1 for i in range(n)]
    # from the last arrival that found a desk free until the last call, every desk is held
    end = max(people[i][0] + sum(longest[i:]) // desks for i in range(n)) + 2 * max(longest)
    minutes = range(1, end + 1)
    kinds = ["begins", "waits", "serves", "holds", "full", "joins", *range(desks + 2)]
    number = {kind: place for place, kind in enumerate(kinds, start=1)}

    def L(kind, i, t):
        return number[kind] + (t * (n + 1) + i) * len(kinds)

    with Minisat22(bootstrap_with=unrolled(people, desks, minutes, L)) as solver:
        if not solver.solve():
            return {"status": "schema_error", "detail": "no course"}
        model = solver.get_model()

    def is_(kind, i, t):
        return model[L(kind, i, t) - 1] > 0

    __answer__
