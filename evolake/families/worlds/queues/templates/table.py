"""A validator of a queue that goes from call to call."""

KINDS = {}
NEXT = LEAVE = PACE = None
__answer__ = __constants__ = __people__ = __rules__ = None
# --- program ---
"""From call to call: the next is where a desk is free and somebody is there."""

import numpy as np

FOREVER = 10**6
__constants__
__rules__


def courses(people, desks):
    come, need, card = np.array(people).T
    latest, borne = KINDS[LEAVE](come, need, card)
    start, until, rank = np.zeros((3, come.size), int)
    joined, free = np.zeros(come.size, bool), np.ones(desks, int)

    def waiting(m):
        """Who stands in the line at the end of minute m."""
        return joined & (come <= m) & (latest > m) & ((start == 0) | (start > m))

    def call_until(end):
        while True:
            w = np.flatnonzero(joined & (start == 0) & (latest >= np.maximum(come, free.min())))
            t = max(free.min(), come[w].min()) if w.size else end
            if t >= end:
                return
            i = KINDS[NEXT](w[come[w] <= t], t, need, card)
            lasting, closed = KINDS[PACE](i, t, come, need, card)
            start[i], until[i], rank[i] = t, t + lasting - 1, rank.max() + 1
            free[free.argmin()] = t + lasting + closed

    for i in range(come.size):
        call_until(come[i])
        joined[i] = waiting(come[i] - 1).sum() <= borne[i]
    call_until(FOREVER)
    return come, need, card, start, until, rank, free, waiting


def solution(inputs):
    if not isinstance(inputs, dict) or {"desks", "people", "ask"} - set(inputs):
        return {"status": "schema_error", "detail": "desks, people, ask"}
    ask, people = inputs["ask"], __people__
    come, need, card, start, until, rank, free, waiting = courses(people, inputs["desks"])
    __answer__
