"""A family of objectives: one file, which says as `FAMILY` what it looks at and which of its constants are
drawn.

    FAMILY = Family("sudden rises of cost", "growth beyond N^{FAIR}, fading by {FADE} per level",
    ranges={"FAIR": (1.0, 2.0), "FADE": (0.4, 0.8)})

Whatever file of a folder has one is a family of the line's portfolio; nothing else lists them. `FAMILY` is no
part of the objective's source text (`evolake.objectives.source`), so that words and ranges may change without
giving an objective another id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from evolake.lines import modules_of

NAME = "FAMILY"


@dataclass(frozen=True)
class Family:
    """A way of judging.

    Attributes:
        aspect: what it looks at. description: of one objective, with the drawn constants in braces.
        choices: constant -> tuple of int to choose from. ranges: constant -> (low, high) of a uniform draw.
        order: place among the families of a portfolio, by name where equal. Draws depend on it and on how
            many there are, so those that are there keep theirs and a new one is last; what a lake drew before
            stays as it is.
        at_frontier: above 0 where it looks at the frontier, whose families are asked for, the lowest first,
            when the search stagnates.
        name: of its file; set by `families_in`.
    """

    aspect: str
    description: str
    choices: Mapping[str, tuple[int, ...]] = field(default_factory=dict, hash=False)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict, hash=False)
    order: int = 100
    at_frontier: int = 0
    name: str = ""


def families_in(folder: str) -> dict[str, Family]:
    """Return name -> family of every file of a package that has one, in their order."""
    families = [
        replace(getattr(module, NAME), name=name)
        for name, module in modules_of(folder).items()
        if hasattr(module, NAME)
    ]
    return {
        family.name: family for family in sorted(families, key=lambda family: (family.order, family.name))
    }
