"""Proposals of one generation are asked in waves, and no two requests of a generation are alike: each says
its number, its direction, and what the ones before it have proposed. So a model does not write the same
proposal several times."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pydantic import BaseModel, ConfigDict, Field

MOST_SIBLINGS = 12


class SiblingNote(BaseModel):
    """What one request of several is sent about the others.

    Attributes:
        number: of this request, from 1. count: of all requests of the generation.
        direction: what this one is to try, other than the others.
        siblings: what those of earlier waves proposed, and what came of it if that is known.
    """

    model_config = ConfigDict(extra="forbid")
    number: int = Field(ge=1)
    count: int = Field(ge=1)
    direction: str = ""
    siblings: list[str] = Field(default_factory=list)

    def text(self) -> str:
        """Return the note as lines of a prompt."""
        lines = (
            [f"This is request {self.number} of {self.count} of this generation."] if self.count > 1 else []
        )
        if self.direction:
            lines.append(f"Direction of this one: {self.direction}")
        if self.siblings:
            lines.append("Others of this generation proposed (do something else):")
            lines += [f"- {item}" for item in self.siblings[-MOST_SIBLINGS:]]
        return "\n".join(lines)


def waves(count: int, number: int) -> list[range]:
    """Return the places of each wave, in order: `number` waves as even as can be, fewer if there are fewer
    requests.

    >>> [list(wave) for wave in waves(5, 2)]
    [[0, 1, 2], [3, 4]]
    """
    number = max(1, min(number, count))
    ends = [-(-count * place // number) for place in range(number + 1)]
    return [range(first, end) for first, end in pairwise(ends) if end > first]


def direction_of(directions: Sequence[str], number: int) -> str:
    """Return the direction of request `number` (from 0) of a generation; "" if the line has none."""
    return directions[number % len(directions)] if directions else ""
