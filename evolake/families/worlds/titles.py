"""The end of a process world's title, which names its rules in force."""

from __future__ import annotations

from evolake.families.model.contract import Family
from evolake.families.worlds import actions
from evolake.families.worlds.boards import rules as boards
from evolake.families.worlds.parts import by_rules
from evolake.families.worlds.queues import rules as queues
from evolake.families.worlds.run_engines import POINTS

NAMED = {*POINTS, *queues.POINTS, *boards.POINTS}
"""Mutation points whose rules the titles of process worlds name."""


def rules_of(family: Family) -> str:
    """Return the end of the title of a process world, of a switched one as well; "" for any other family."""
    for points, labels in (
        (POINTS, actions.labels),
        (queues.POINTS, queues.labels),
        (boards.POINTS, boards.labels),
    ):
        chosen = [point.chosen for point in family.points if point.name in points]
        try:
            if chosen:
                return by_rules(labels(chosen))
        except KeyError:
            continue
    return ""
