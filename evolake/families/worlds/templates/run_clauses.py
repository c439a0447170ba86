"""A validator of a process world that asks a SAT solver."""

ACTIONS = {}
ONE = TWO = THREE = ()
__actions__ = __close__ = __constants__ = __fold__ = __known_stores__ = __per__ = None
# --- program ---
"""A variable says that a store holds a number at a time; clauses say what may follow what, and a SAT solver finds the run."""

from itertools import product

from pysat.solvers import Minisat22

__constants__
__actions__


def effects(rule, sizes, cap, m):
    """(values before, the only values that may come after) of the variables of a rule."""
    related, reads, writes = ACTIONS[rule]
    both = sorted({*reads, *writes})
    for before in product(*(range(sizes[name]) for name in both)):
        u = dict(zip(both, before))
        allowed = [dict(zip(writes, values)) for values in product(*(range(sizes[name]) for name in writes))]
        [after] = [v for v in allowed if related(u, v, cap, m)]
        yield u, after


def unrolled(inputs, sizes, L):
    cap, m, layer = inputs["cap"], inputs.get("marks", 1), 0
    known = {rule: list(effects(rule, sizes, cap, m)) for rule in {ONE, TWO, THREE, *__close__}}
    for event in inputs["events"]:
        for rule in ((ONE, TWO, THREE)[event], *__close__):
            for u, after in known[rule]:
                yield from ([*[-L(layer, name, n) for name, n in u.items()], L(layer + 1, name, n)] for name, n in after.items())
            still = [name for name in sizes if name not in ACTIONS[rule][2]]
            yield from ([-L(layer, name, n), L(layer + 1, name, n)] for name in still for n in range(sizes[name]))
            layer += 1


def told(solver, L, last, cap, m, start, ask):
    model = solver.get_model()

    def is_(t, name, n):
        return model[L(t, name, n) - 1] > 0

    __fold__


def solution(inputs):
    if not isinstance(inputs, dict) or {"cap", "start", "events", "ask"} - set(inputs):
        return {"status": "schema_error", "detail": "cap, start, events, ask"}
    cap, m, start, ask = inputs["cap"], inputs.get("marks", 1), inputs["start"], inputs["ask"]
    of = {"a": cap + 1, "b": cap + 1, "r": m, "q": 2}
    sizes = {name: of[name] for name in sorted(start)}
    offset, width = {}, 1
    for name, size in sizes.items():
        offset[name], width = width, width + size
    width -= 1

    def at_layer(layer, name, n):
        return layer * width + offset[name] + n

    def L(t, name, n):
        return at_layer(t * __per__, name, n)

    last = len(inputs["events"])
    clauses = list(unrolled(inputs, sizes, at_layer))
    for layer in range(last * __per__ + 1):
        for name, size in sizes.items():
            clauses.append([at_layer(layer, name, n) for n in range(size)])
            clauses += [[-at_layer(layer, name, n), -at_layer(layer, name, k)] for n in range(size) for k in range(n)]
    clauses += [[L(0, name, value)] for name, value in __known_stores__]
    with Minisat22(bootstrap_with=clauses) as solver:
        if not solver.solve():
            return {"status": "schema_error", "detail": "no run"}
        return told(solver, L, last, cap, m, start, ask)
