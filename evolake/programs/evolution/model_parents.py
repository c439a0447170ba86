"""Which program a model is asked to change: the best in at least half of the requests, and no much worse one
without a reason."""

from __future__ import annotations

import numpy as np

from evolake.programs.evolution.archive import Islands, merit
from evolake.programs.evolution.population import Row

LEAST_SHARE = 0.5
"""Share of the best program's gain over the initial one that another program needs to be changed instead of
it."""


def parent_for_model(
    islands: Islands, place: int, initial: Row | None, random: np.random.Generator
) -> tuple[Row, str]:
    """Return the parent of a request, and why it is this one.

    place: of the request in its generation; requests with an even one change the best program. initial: of
    the project.
    """
    best = islands.ranked(islands.rows.values())[0]
    if place % 2 == 0:
        return best, "It is the best so far."
    drawn = islands.parents(place % islands.count, random)[0]
    if drawn["program_id"] == best["program_id"]:
        return best, "It is the best so far."
    if drawn["program_id"] in islands.front() and len(islands.project.metrics) > 1:
        return drawn, "It is not the best by the score, but on the Pareto front."
    if initial is not None and not close(islands, drawn, best, initial):
        return best, "It is the best so far, and others are far behind."
    return drawn, f"It is another line of descent than the best ({best['score']:.9g}), and not far behind it."


def worth_showing(islands: Islands, row: Row, best: Row, initial: Row | None) -> bool:
    """Return whether another program may teach a writer something: it is not far behind the best, or on the
    front of several metrics."""
    if len(islands.project.metrics) > 1 and row["program_id"] in islands.front():
        return True
    return initial is None or row["program_id"] == best["program_id"] or close(islands, row, best, initial)


def close(islands: Islands, row: Row, best: Row, initial: Row) -> bool:
    """Return whether a program has at least `LEAST_SHARE` of the best program's gain over the initial
    program."""
    if initial["score"] is None:
        return True
    start = merit(islands.project, initial)
    return merit(islands.project, row) - start >= LEAST_SHARE * (merit(islands.project, best) - start)
