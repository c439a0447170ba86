"""Partitions of a study: an arm, a way that is compared, with one seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evolake.errors import InputError
from evolake.reading import whole_number

MAX_SEED = 9999


@dataclass(frozen=True)
class Cells:
    """Those of one study. arms: names of its arms."""

    study: str
    arms: Sequence[str]

    def key(self, arm: str, seed: int) -> str:
        """Return the partition of one arm with one seed.

        >>> Cells("repair", ["one_shot"]).key("one_shot", 2)
        'one_shot-2'

        Raises:
            InputError: no such arm, or a seed outside 0..9999.
        """
        if arm not in self.arms:
            raise InputError(
                f"there is no arm {arm!r}", wanted=f"one of {', '.join(self.arms)}", do="name one of these"
            )
        if not 0 <= seed <= MAX_SEED:
            raise InputError(
                "a study's seed is out of range",
                wanted=f"0..{MAX_SEED}",
                got=str(seed),
                do="give a number in that range",
            )
        return f"{arm}-{seed}"

    def parse(self, cell: str) -> tuple[str, int]:
        """Return (arm, seed) of a partition: the inverse of `key`.

        Raises:
            InputError: not such a key.
        """
        arm, mark, seed = cell.rpartition("-")
        number = whole_number(seed)
        if not mark or number is None or cell != self.key(arm, number):
            example = f"{self.arms[0]}-0"
            raise InputError(
                f"{cell!r} is no cell of the {self.study} study",
                wanted=f"an arm and a seed, e.g. {example}",
                do="name such a cell",
            )
        return arm, number
