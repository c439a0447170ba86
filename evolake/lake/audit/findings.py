"""What an audit of a lake finds, and what a repair did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

AGAIN = "materialize it again"
BACKUP = "restore it from a backup"


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be.

    Attributes:
        kind: what sort of thing: seal, journal, manifest, checkpoint, unfinished, part, record, superseded,
            token, blob, reference, leftover, `tape` or fetched.
        what: a sentence. where: the file, below the lake's root. wanted, got: in words.
        repair: what puts it right, where `--repair` does not.
        note: worth knowing, and no damage: it does not count.
        repair: puts it right, provably, and says what it did; None where only a person can. Does nothing when
            it is done already.
    """

    kind: str
    what: str
    where: str
    wanted: str
    got: str
    mend: str
    note: bool = False
    repair: Callable[[], str] | None = field(default=None, compare=False, repr=False)

    def row(self) -> dict[str, str | bool]:
        """For `--json`."""
        names = ("kind", "what", "where", "wanted", "got", "mend", "note")
        return {name: getattr(self, name) for name in names} | {"repairable": self.repair is not None}


@dataclass(frozen=True)
class Audit:
    """All findings, and what was done: (where, what was done, or why it was not)."""

    findings: tuple[Finding, ...]
    done: tuple[tuple[str, str], ...] = ()

    @property
    def verdict(self) -> Literal["clean", "findings"]:
        """Whether anything but notes is left."""
        return "findings" if any(not finding.note for finding in self.findings) else "clean"
