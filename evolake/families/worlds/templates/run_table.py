"""A validator of a process world that works with the numbers of states."""

ACTIONS = {}
ONE = TWO = THREE = ()
__actions__ = __answer__ = __close__ = __constants__ = None
# --- program ---
"""Every state has a number; each rule is a table of successors, and a run a walk through the tables."""

import numpy as np

__constants__
__actions__


def successors(rule, names, sizes, cap, m):
    z = dict(zip(names, np.indices(sizes).reshape(len(sizes), -1)))
    z.update(ACTIONS[rule](z, cap, m))
    return np.ravel_multi_index([z[name] for name in names], sizes)


def shape(inputs):
    names = sorted(inputs["start"])
    of = {"a": inputs["cap"] + 1, "b": inputs["cap"] + 1, "r": inputs.get("marks", 1), "q": 2}
    return names, [of[name] for name in names]


def walked(numbers, inputs):
    """Numbers of states after each turn, one row per turn, from several starts at once."""
    names, sizes = shape(inputs)
    tables = {rule: successors(rule, names, sizes, inputs["cap"], inputs.get("marks", 1)) for rule in {ONE, TWO, THREE, *__close__}}
    rows = [numbers]
    for event in inputs["events"]:
        after = tables[(ONE, TWO, THREE)[event]][rows[-1]]
        for rule in __close__:
            after = tables[rule][after]
        rows.append(after)
    return np.array(rows)


def columns(numbers, inputs):
    names, sizes = shape(inputs)
    return dict(zip(names, np.unravel_index(numbers, sizes)))


def numbered(z, inputs):
    names, sizes = shape(inputs)
    return np.ravel_multi_index([z[name] for name in names], sizes)


def follow(z, inputs):
    return columns(walked(numbered(z, inputs), inputs)[-1], inputs)


def every_start(start, cap, m):
    amounts = np.arange(start["a"], cap + 1)
    return {name: amounts if name == "a" else np.full(amounts.size, value) for name, value in start.items()}


def solution(inputs):
    if not isinstance(inputs, dict) or {"cap", "start", "events", "ask"} - set(inputs):
        return {"status": "schema_error", "detail": "cap, start, events, ask"}
    cap, m, start, ask = inputs["cap"], inputs.get("marks", 1), inputs["start"], inputs["ask"]
    __answer__
