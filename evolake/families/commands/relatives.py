"""What a family that is checked is compared with: the shipped seeds, by their shipped evidence, and what the
lake has accepted."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evolake.errors import InputError
from evolake.report.gain import counted

if TYPE_CHECKING:
    from evolake.families.model.similarity import Fingerprint
    from evolake.settings import Settings


UNKNOWN = (
    "no evidence is shipped for Python {python} and these sizes, and no finished cycle of this lake has "
    "accepted it"
)
NAMED = 6
"""Seeds that are named for one reason; of more than these the others are counted."""


@dataclass(frozen=True)
class Relatives:
    """Fingerprints, and how many families they are of. left_out: folder of a seed that a family is not
    compared with -> why."""

    fingerprints: tuple[Fingerprint, ...]
    seeds: int
    left_out: Mapping[str, str]
    lake: int

    def sentence(self) -> str:
        """Return what a family was compared with."""
        missing = f" (not with {len(self.left_out)} more)" if self.left_out else ""
        return (
            f"compared with {counted(self.seeds, 'seed')}{missing} and {self.lake} more "
            f"{'family' if self.lake == 1 else 'families'} of the lake"
        )

    def lines(self) -> list[str]:
        """Return the sentence, then what a family was not compared with, by reason."""
        parts = [self.sentence()]
        for reason in dict.fromkeys(self.left_out.values()):
            names = [name for name, why in self.left_out.items() if why == reason]
            more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            parts.append(
                f"  not with {counted(len(names), 'seed')} ({', '.join(names[:NAMED])}{more}): {reason}"
            )
        return parts

    def to_json(self) -> dict[str, Any]:
        """Return the same for a program."""
        return {"seeds": self.seeds, "lake": self.lake, "left_out": dict(self.left_out)}


def relatives(settings: Settings, without: str = "") -> Relatives:
    """Return the relatives among the shipped seeds and in the lake in force. without: a family that is not to
    be its own relative.

    Raises InputError if that is no lake, or the shipped evidence is damaged.
    """
    from evolake.families.evolution.shipped import FILE, evidence_key, read_entries
    from evolake.families.model.contract import GENERATOR
    from evolake.families.model.loading import read_family
    from evolake.families.model.similarity import Fingerprint
    from evolake.families.settings import FamiliesSettings

    entries, sizes = read_entries(settings.seeds / FILE), settings.of(FamiliesSettings)
    of_lake = {item.family_id: item for item in _of_lake(settings) if item.family_id != without}
    result: dict[str, Fingerprint] = {}
    left_out: dict[str, str] = {}
    folders = [
        path.parent
        for place in settings.seed_folders
        for path in sorted((place / "families").glob(f"*/{GENERATOR}"))
    ]
    for folder in folders:
        try:
            family = read_family(folder)
        except InputError as error:  # half a family that somebody drops just now is compared with nothing
            left_out[folder.name] = str(error).partition("\n")[0].replace(str(folder), folder.name)
            continue
        entry = entries.get(evidence_key(family, sizes, settings.seed))
        if family.family_id == without:
            continue
        if entry and entry.fingerprint:
            result[family.family_id] = Fingerprint.from_json(entry.fingerprint)
        elif family.family_id not in of_lake:
            left_out[folder.name] = UNKNOWN.format(python=".".join(map(str, sys.version_info[:2])))
    seeds = len(result)
    result |= {name: item for name, item in of_lake.items() if name not in result}
    return Relatives(tuple(result.values()), seeds, left_out, len(result) - seeds)


def _of_lake(settings: Settings) -> list[Fingerprint]:
    """Return what the last finished cycle handed on; nothing if there is no lake, or none of this line's
    cycles in it."""
    from evolake.families.commands.export import finished
    from evolake.families.dataset.datasets import LINE, archive_after
    from evolake.lake import Lake, following

    if not settings.require_lake().exists():
        return []
    lake = Lake(settings.require_lake())
    done = [
        cycle
        for cycle in finished(lake, None)
        if lake.record(LINE, "incoming_families", following(cycle)) is not None
    ]
    return archive_after(lake, done[-1]).known() if done else []
