"""The operators that take no parent: each draws a new kind of puzzle from its world."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from evolake.families.model.ast_transforms import NotComposable
from evolake.families.model.contract import Family
from evolake.families.operators.common import check_rules, named
from evolake.families.worlds.constraint import constraint_world
from evolake.families.worlds.process import process_world
from evolake.families.worlds.puzzles.drawing import puzzle_world
from evolake.families.worlds.trying import NoWorld


def draw_constraint_world(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """Return a puzzle about an arrangement of which a few things are known. Raises NotComposable if
    none was found, or its rules cannot be distinguished.
    """
    return _drawn(constraint_world, random)


def draw_process_world(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """Return a puzzle about a run by a few rules. Raises NotComposable if none was found, or its rules could
    not be distinguished."""
    return _drawn(process_world, random)


def draw_puzzle_world(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """Return a puzzle of one of several engines, such as routes or schedules. Raises NotComposable if
    none was found, or its rules cannot be distinguished.
    """
    return _drawn(puzzle_world, random)


def _drawn(world: Callable[[np.random.Generator], Family], random: np.random.Generator) -> Family:
    try:
        family = world(random)
    except NoWorld as error:
        raise NotComposable(str(error)) from None
    check_rules(family)
    return named(family)
