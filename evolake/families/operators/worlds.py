"""The operators that take no parent: each draws a new kind of puzzle from its world."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evolake.families.model.ast_transforms import NotComposable
from evolake.families.model.contract import Family
from evolake.families.operators.common import check_rules, named
from evolake.families.worlds.constraint import constraint_world
from evolake.families.worlds.process import NoWorld, process_world


def draw_constraint_world(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """A puzzle about an arrangement of which a few things are known. Raises NotComposable where its rules could not be told apart."""
    return _named(constraint_world(random))


def draw_process_world(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """A puzzle about a run by a few rules. Raises NotComposable where none was found, or its rules could not be told apart."""
    try:
        return _named(process_world(random))
    except NoWorld as error:
        raise NotComposable(str(error)) from None


def _named(drawn: Family) -> Family:
    check_rules(drawn)
    return named(drawn)
