"""What a program does on made-up designs: which way it ranks them, whether it distinguishes them, and which
programs rank them alike.

The designs are fixed and owe nothing to a lake: ladders of sizes with steps that grow in different ways, each
run up to where it fails. Each has a slower twin, whose steps also grow faster and which fails sooner. A
program that mostly prefers the twins is turned round; that decides nothing about its worth, only that "lower
is better" holds for it as for the others.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from evolake.objectives.families.levels import budget
from evolake.objectives.programs.canonical import canonical
from evolake.objectives.programs.evaluate import value
from evolake.objectives.programs.expression import Expression, is_program

DESIGNS = 24
SIZES = (10, 14, 20, 28, 40, 57, 80, 113, 160, 226, 320, 453, 640)
STEEPER = 0.4
"""What a twin's exponent of growth is above that of its design."""
LEANING = 4
DISTINCT = 0.5
GOLDEN = (0.6180339887, 0.4142135623, 0.7320508075, 0.2360679774)
Ranking = tuple[int, ...]


def turned(program: Expression) -> tuple[Expression, Ranking] | None:
    """Return the program in canonical form, turned so that fewer steps are better, and how it ranks the
    made-up designs.

    None where it prefers hardly either, gives fewer than half of the designs their own value, or has grown
    too large.
    """
    form = canonical(program)
    if not is_program(form):
        return None
    scores = _scores(form)
    leaning = sum(
        (slow > fast) - (slow < fast) for fast, slow in zip(scores, _scores(form, STEEPER), strict=True)
    )
    if abs(leaning) < LEANING or len(set(scores)) < DISTINCT * DESIGNS:
        return None
    if leaning > 0:
        return form, _ranking(scores)
    other = canonical(("neg", form))
    return (other, _ranking(_scores(other))) if is_program(other) else None


def ranking(program: Expression) -> Ranking:
    """Return dense ranks of the made-up designs; programs that rank them alike have equal ones."""
    return _ranking(_scores(program))


def _scores(program: Expression, steeper: float = 0.0) -> list[float]:
    return [float(f"{value(program, rows):.9g}") for rows in made_up_designs(steeper)]


def _ranking(scores: list[float]) -> Ranking:
    places = {score: place for place, score in enumerate(sorted(set(scores)))}
    return tuple(places[score] for score in scores)


@cache
def made_up_designs(steeper: float = 0.0) -> tuple[tuple[dict[str, Any], ...], ...]:
    """Return results of the designs, or of twins whose exponent of growth is larger by `steeper`."""
    return tuple(_ladder(number, steeper) for number in range(DESIGNS))


def _ladder(number: int, steeper: float) -> tuple[dict[str, Any], ...]:
    offset, exponent, curve, phase = (math.modf((number + 1) * irrational)[0] for irrational in GOLDEN)
    rows: list[dict[str, Any]] = []
    for place, n in enumerate(SIZES):
        x = math.log(n / 10)
        wobble = 0.25 * math.sin(7.0 * phase + 2.3 * place)
        steps = math.exp(
            2.3
            + offset
            + (0.8 + 1.6 * exponent + steeper) * x
            + 0.3 * curve * max(x - 1.5, 0.0) ** 2
            + wobble
        )
        limit = budget(n)
        solved = steps <= limit
        rows.append(
            {
                "N": n,
                "median_step": round(steps),
                "unsolved_fraction": 0.49 if solved else min(0.5 + 0.2 * math.log(steps / limit), 1.0),
                "max_steps": int(limit),
                "batch": 100,
            }
        )
        if not solved:
            break
    return tuple(rows)
