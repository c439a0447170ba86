"""A validator of a board that asks a SAT solver, with a variable for the mover, and one for a thing, being in each cell after each move.

Each case of a rule is a variable, true exactly where its needs are met. Where the mover is after half a move is an "or" of cases, and a thing comes
or goes only by a case: explanatory frame axioms (Haas 1987; Schubert 1990), which leave one course for given moves.
"""

KINDS = {}
PUSH = WALL = EDGE = MARK = None
__answer__ = __constants__ = __homes__ = __rules__ = None
# --- program ---
"""A variable says that somebody or something is in a cell after a move; a SAT solver finds the course that clauses allow."""

from pysat.solvers import Minisat22

__constants__
__rules__

DIRECTIONS = ((-1, 0), (0, 1), (1, 0), (0, -1))


def on(x, v, n=1):
    return x[0] + n * v[0], x[1] + n * v[1]


def right(v):
    return v[1], -v[0]


def stay(x, lost=0):
    return [((), x, {}, lost)]


def where(kind, cases):
    """Of {cell: cases}, those in which that of this kind is true of the cell."""
    return [(((kind, x, True), *needs), *rest) for x, found in cases.items() for needs, *rest in found]


def either(g, y, one, other):
    if y not in g["open"]:
        return other
    return [(((("thing", y, other is held)), *needs), *rest) for held in (one, other) for needs, *rest in held]


def full(some, empty):
    return tuple(("thing", y, True) for y in some) + tuple(("thing", y, False) for y in empty)


def line(g, x, v):
    """The cells ahead, up to a wall or the edge."""
    y = on(x, v)
    return [y, *line(g, y, v)] if y in g["open"] else []


def slides(cells):
    """(needs, how many of these cells are passed before a thing or the end)."""
    return [(full(cells[k : k + 1], cells[:k]), k) for k in range(len(cells) + 1)]


def slippery(g, x, v):
    """The cells ahead that who slides on marks may come to."""
    y = on(x, v)
    return [] if y not in g["open"] else [y, *slippery(g, y, v)] if y in g["marks"] else [y]


def far(g, x, v):
    return next(y for n in range(g["longest"], -1, -1) if (y := on(x, v, -n)) in g["cells"])


def turned(g, x):
    return g["size"][0] + 1 - x[0], g["size"][1] + 1 - x[1]


def follower(g, x):
    return g["marks"][(g["marks"].index(x) + 1) % len(g["marks"])]


def stepped(g, x, v):
    """The cases of the first half of a move."""
    y = on(x, v)
    if y not in g["cells"]:
        return KINDS[EDGE](g, x, v)
    if y in g["walls"]:
        return KINDS[WALL](g, x, v)
    return [((("thing", y, False),), y, {}, 0), *where("thing", {y: KINDS[PUSH](g, x, v)})]


def halves(g):
    """(half, cell, direction) -> the cases, with a need of who has come to a mark for the second half."""
    found = {(0, x, j): stepped(g, x, v) for x in g["open"] for j, v in enumerate(DIRECTIONS)}
    for (_, x, j), cases in found.items():
        for _, y, *_ in cases:
            g["before"].setdefault((y, DIRECTIONS[j]), set()).add(x)
    for x in g["open"]:
        for j, v in enumerate(DIRECTIONS):
            known = [came for came in (False, True) if came <= (x in g["marks"])]
            found[1, x, j] = [((("began", x, not came), *needs) if x in g["marks"] else needs, *rest)
                              for came in known for needs, *rest in KINDS[MARK](g, x, v, came)]
    return found


def same(one, others):
    """The variable is true where one of the others is."""
    yield [-one, *others]
    yield from ([one, -other] for other in others)


def unrolled(g, moves, L):
    """moves: for each the directions that it may have."""
    known, things = halves(g), [x for x in g["open"] if x in g["things"]]
    yield [L("at", 0, x) for x in g["homes"]]
    yield from ([-L("at", 0, x), -L("at", 0, y)] for x in g["homes"] for y in g["homes"] if x < y)
    yield from ([-L("at", 0, x)] for x in g["open"] if x not in g["homes"])
    yield from ([L("thing", 0, x) if x in things else -L("thing", 0, x)] for x in g["open"])
    yield from ([L("lost", 0, 0)], [-L("lost", 0, 1)], [-L("lost", 0, 2)])
    for t, ways in enumerate(moves):
        yield [L("way", t, j) for j in ways]
        yield from ([-L("way", t, i), -L("way", t, j)] for i in ways for j in ways if i < j)
        lost = {1: [L("lost", t, 2)], 2: []}
        for half in (0, 1):
            now = 2 * t + half
            to, put, gone = ({x: [] for x in g["open"]} for _ in range(3))
            for x in g["open"]:
                here, rest = L("at", now, x), L("rest", now, x)
                yield from ([-rest, here], [-rest, -L("lost", t, 0)], [rest, -here, L("lost", t, 0)])
                to[x].append(rest)
                for j in ways:
                    for number, (needs, y, changed, more) in enumerate(known[half, x, j]):
                        case = L("case", now, x, j, number)
                        met = [here, L("way", t, j), L("lost", t, 0)]
                        for kind, z, yes in needs:
                            literal = L(kind, now, z) if kind == "thing" else L("at", 2 * t if kind == "began" else 0, z)
                            met.append(literal if yes else -literal)
                        yield [case, *(-one for one in met)]
                        yield from ([-case, one] for one in met)
                        to[y].append(case)
                        for z, there in changed.items():
                            (put if there else gone)[z].append(case)
                            yield [-case, L("thing", now + 1, z) if there else -L("thing", now + 1, z)]
                        if more:
                            lost[more].append(case)
            for x in g["open"]:
                yield from same(L("at", now + 1, x), to[x])
                yield [-L("thing", now + 1, x), L("thing", now, x), *put[x]]
                yield [-L("thing", now, x), L("thing", now + 1, x), *gone[x]]
        yield from (clause for n in (1, 2) for clause in same(L("lost", t + 1, n), lost[n]))
        yield from same(-L("lost", t + 1, 0), [L("lost", t + 1, 1), L("lost", t + 1, 2)])


def solution(inputs):
    if not isinstance(inputs, dict) or {"board", "moves", "ask"} - set(inputs):
        return {"status": "schema_error", "detail": "board, moves, ask"}
    ask = inputs["ask"]
    ids = {}

    def L(*key):
        return ids.setdefault(key, len(ids) + 1)

    cells = {(r, c): letter for r, row in enumerate(inputs["board"], start=1) for c, letter in enumerate(row, start=1)}
    kinds = {letter: [x for x in cells if cells[x] == letter] for letter in "#ox.@"}
    g = {
        "cells": cells, "walls": kinds["#"], "marks": kinds["x"], "things": kinds["o"], "open": [x for x in cells if cells[x] != "#"],
        "homes": __homes__, "size": max(cells), "longest": max(max(cells)), "before": {},
    }
    last = len(inputs["moves"])
    moves = [[j] for j in inputs["moves"]]
    with Minisat22(bootstrap_with=unrolled(g, moves, L)) as solver:
        if not solver.solve():
            return {"status": "schema_error", "detail": "no course"}
        model = set(solver.get_model())

        def is_(kind, t, x):
            return L(kind, 2 * t, x) in model

        __answer__
