"""What one generation of one project made, as a blob that is noted in the lake as soon as the generation is
done. A cycle that was killed reads the notes back and continues after the last one whose key is still the
same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from evolake.canonical_json import canonical_json

Row = dict[str, Any]
REPEATED = "the program is there already"


@dataclass(frozen=True)
class GenerationEntry:
    """Rows of PROGRAMS, VERDICTS, MEASURED, DERIVATIONS and AGENT_CALLS. islands: the living programs
    afterwards. repeated: children that were there already. unanswered: reasons of proposals that came to
    nothing. turns: of sessions, as `Agents.turns` gives them. `unmade`: the same proposals, and those that
    were there already, with reason, idea, operator and parent."""

    programs: list[Row] = field(default_factory=list[Row])
    verdicts: list[Row] = field(default_factory=list[Row])
    measured: list[Row] = field(default_factory=list[Row])
    derivations: list[Row] = field(default_factory=list[Row])
    calls: list[Row] = field(default_factory=list[Row])
    islands: list[Row] = field(default_factory=list[Row])
    repeated: int = 0
    unanswered: list[str] = field(default_factory=list[str])
    turns: list[Row] = field(default_factory=list[Row])
    unmade: list[Row] = field(default_factory=list[Row])

    def followed_by(self, other: GenerationEntry) -> GenerationEntry:
        """Return the entry with what another made after it; the living programs are those after the other."""
        joined = {
            name: [*getattr(self, name), *getattr(other, name)]
            for name in (
                "programs",
                "verdicts",
                "measured",
                "derivations",
                "calls",
                "unanswered",
                "turns",
                "unmade",
            )
        }
        return GenerationEntry(**joined, islands=other.islands, repeated=self.repeated + other.repeated)


def entry_bytes(entry: GenerationEntry) -> bytes:
    """Return an entry as canonical JSON."""
    return canonical_json(asdict(entry), ascii_only=True).encode()


def read_entry(data: bytes) -> GenerationEntry:
    """Return the entry that `entry_bytes` wrote."""
    return GenerationEntry(**json.loads(data))


def failed_rows(noted: Iterable[Mapping[str, Any]], entries: Iterable[GenerationEntry]) -> list[Row]:
    """Return rows of `FAILED_PROPOSALS` of a cycle. noted: its rows of JOURNAL, in order; entries: what they
    name."""
    found = [(note, item) for note, entry in zip(noted, entries, strict=True) for item in entry.unmade]
    return [
        {
            "number": number,
            "cycle": note["cycle"],
            "project": note["project"],
            "generation": note["generation"],
            **item,
        }
        for number, (note, item) in enumerate(found)
    ]
