"""What a family that is checked is compared with: the shipped seeds, by their shipped evidence, and what the lake has accepted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evolake.errors import InputError

if TYPE_CHECKING:
    from evolake.families.model.similarity import Fingerprint
    from evolake.settings import Settings


@dataclass(frozen=True)
class Relatives:
    """Fingerprints, and how many families they are of. seeds: `without` others cannot be read or have no evidence for this version and sizes."""

    fingerprints: tuple[Fingerprint, ...]
    seeds: int
    without: int
    lake: int

    def sentence(self) -> str:
        """For a person."""
        missing = f" ({self.without} cannot be read, or have no shipped evidence for this Python and these sizes)" if self.without else ""
        return f"compared with {self.seeds} seeds{missing} and {self.lake} more families of the lake"


def relatives(settings: Settings, without: str = "") -> Relatives:
    """Of the shipped seeds and of the lake in force. without: a family that is none of its own relatives.

    Raises InputError where that is no lake, or the shipped evidence is damaged.
    """
    from evolake.families.evolution.shipped import FILE, evidence_key, read_entries
    from evolake.families.model.contract import GENERATOR
    from evolake.families.model.loading import read_family
    from evolake.families.model.similarity import Fingerprint
    from evolake.families.settings import FamiliesSettings

    entries, sizes = read_entries(settings.seeds / FILE), settings.of(FamiliesSettings)
    folders = sorted(path.parent for path in (settings.seeds / "families").glob(f"*/{GENERATOR}"))
    found: dict[str, Fingerprint] = {}
    for folder in folders:
        try:
            family = read_family(folder)
        except InputError:  # half a family that somebody drops just now is compared with nothing
            continue
        entry = entries.get(evidence_key(family, sizes, settings.seed))
        if entry and entry.fingerprint:
            found[family.family_id] = Fingerprint.from_json(entry.fingerprint)
    with_evidence = len(found)
    seeds = with_evidence - (without in found)
    found.pop(without, None)
    found |= {one.family_id: one for one in _of_lake(settings) if one.family_id not in found and one.family_id != without}
    return Relatives(tuple(found.values()), seeds, len(folders) - with_evidence, len(found) - seeds)


def _of_lake(settings: Settings) -> list[Fingerprint]:
    """What the last finished cycle handed on; nothing where there is no lake, or none of this line's cycles in it."""
    from evolake.families.commands.export import finished
    from evolake.families.dataset.datasets import LINE, archive_after
    from evolake.lake import Lake, following

    if not settings.lake.exists():
        return []
    lake = Lake(settings.lake)
    done = [cycle for cycle in finished(lake, None) if lake.record(LINE, "incoming_families", following(cycle)) is not None]
    return archive_after(lake, done[-1]).known() if done else []
