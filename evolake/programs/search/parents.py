"""Which program is changed next, if operators write: mostly the best; a new structure gets some tuning before
it is compared with the best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evolake.programs.search.trials import Trials

TUNING = 6
"""Children that a new structure gets, by changes of its numbers, before it is judged."""
YOUNG_SHARE, YOUNGEST = 0.2, 3
"""Share of children that new structures get, and how many of them, the best, are tuned side by side."""
PATIENCE = 30
"""Trials without an improvement after which other programs than the best are changed more often."""
OTHERS, OTHERS_IDLE = 0.08, 0.3
"""Share of children of programs other than the best, and that share after `PATIENCE`."""


@dataclass(frozen=True)
class Choice:
    """place: of the parent among the trials; None: any program of the island. numbers_only: whether its
    numbers alone are changed."""

    place: int | None
    numbers_only: bool = False


def choose_parent(trials: Trials, random: np.random.Generator) -> Choice:
    """Return the parent of the next child."""
    best = trials.best
    if best is None:
        return Choice(None)
    way = random.random()
    if way < YOUNG_SHARE and (young := untuned(trials)):
        return Choice(young[int(random.integers(len(young)))], numbers_only=True)
    others = OTHERS_IDLE if trials.idle() > PATIENCE else OTHERS
    return Choice(None) if random.random() < others else Choice(best)


def untuned(trials: Trials) -> list[int]:
    """Return places of the best new structures that have not had their tuning: in the best quarter, and not
    the best already."""
    scored = sorted(merit for merit in trials.merits if merit is not None)
    enough = scored[3 * (len(scored) - 1) // 4]
    children: dict[str, int] = {}
    top: dict[str, int] = {}
    for place, item in enumerate(trials.skeletons):
        children[item] = children.get(item, 0) + 1
        merit = trials.merits[place]
        if merit is not None and (item not in top or merit > _at(trials, top[item])):
            top[item] = place
    new = {trials.skeletons[place] for place in range(len(trials.items)) if trials.changes_structure(place)}
    held = [
        place
        for item, place in top.items()
        if item
        and item in new
        and children[item] <= TUNING
        and place != trials.best
        and _at(trials, place) >= enough
    ]
    return sorted(held, key=lambda place: -_at(trials, place))[:YOUNGEST]


def _at(trials: Trials, place: int) -> float:
    merit = trials.merits[place]
    return float("-inf") if merit is None else merit
