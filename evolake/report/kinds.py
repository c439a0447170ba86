"""Kinds of artifacts (designs, variants, families, instances, rules, ...): where a line keeps what it knows
of one, how it is shown and written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolake.errors import InputError

if TYPE_CHECKING:
    from evolake.lake import Lake

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Artifact:
    """Something that a line has made, or was given.

    Attributes:
        state, cycle: its newest state, and since which cycle; "" for what has none. content_sha: as its row
            of `artifacts` says; "" without one.
        row: what the line's own tables say of it; empty where they say nothing.
    """

    artifact_id: str
    line: str
    kind: str
    title: str
    state: str = ""
    cycle: str = ""
    content_sha: str = ""
    row: Row = field(default_factory=dict[str, Any])

    @property
    def name(self) -> str:
        """Kind, title and the beginning of the id."""
        return f"{self.line} {self.kind} {self.artifact_id[:12]} {self.title}".rstrip()


def blob_text(lake: Lake, artifact: Artifact) -> str:
    """Return the blob that its row names, as text; "" where it names none: some artifacts are no more than
    their row."""
    sha = artifact.content_sha
    if len(sha) != 64 or not lake.blobs.path(sha).exists():
        return ""
    data = lake.blobs.get(sha)
    return f"({len(data):,} bytes that are no text)\n" if b"\0" in data else data.decode("utf-8", "replace")


def nothing_said(_row: Row, _parents: Sequence[Row]) -> str:
    """Of a kind whose rows do not say what a child changed."""
    return ""


def nothing_more(_lake: Lake, artifact: Artifact, _folder: Path, _cycle: str) -> None:
    """Of a kind to which nothing belongs next to itself."""
    raise InputError(f"to a {artifact.kind} belongs no checkpoint", do="leave --checkpoint out")


def no_remarks(_lake: Lake, _artifact: Artifact) -> Sequence[str]:
    """Of a kind of which its tables say all."""
    return ()


@dataclass(frozen=True)
class Kind:
    """One kind of artifact of a line.

    Attributes:
        key, tables: column that names it, and the line's tables with a row of it; the first that has one
            counts, of it the newest cycle's.
        facts: columns of that row that are shown. scores: tables with figures of it, the newest cycle's row
            is shown.
        title: of what is no row of `artifacts`: the column to call it by; it is looked for in `tables`.
        text: what is shown of it.
        file: what the file with the text is called. write: writes it into an empty folder, where that is more
            than the text; gives the command that checks it, run in that folder, or "".
        belongings: writes what belongs to it next to itself (lake, artifact, folder, cycle), as a policy's
            checkpoint.
        changed: its row and its parents' -> what it changed, in words.
        remarks: further lines that are shown of it, after its scores.
    """

    key: str = ""
    tables: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()
    title: str = ""
    text: Callable[[Lake, Artifact], str] = blob_text
    file: str = "artifact.txt"
    write: Callable[[Lake, Artifact, Path], str] | None = None
    belongings: Callable[[Lake, Artifact, Path, str], None] = nothing_more
    changed: Callable[[Row, Sequence[Row]], str] = nothing_said
    remarks: Callable[[Lake, Artifact], Sequence[str]] = no_remarks

    def write_into(self, lake: Lake, artifact: Artifact, folder: Path) -> str:
        """Write it into an empty folder: its text as a file, unless its kind writes more. Return the command
        that checks it, or ""."""
        if self.write is not None:
            return self.write(lake, artifact, folder)
        (folder / self.file).write_text(self.text(lake, artifact), encoding="utf-8")
        return ""


def column_text(column: str) -> Callable[[Lake, Artifact], str]:
    """Of a kind whose text is a column of its row."""
    return lambda _lake, artifact: str(artifact.row.get(column) or "")
