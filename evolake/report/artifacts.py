"""What a line says of its kinds of artifacts (designs, variants, families, instances, rules, ...): where it
keeps what it knows of one, how it is shown and written. `LineSpec.artifacts` names a `LineArtifacts`. A line
that names none has the defaults: an artifact is the blob that its row names, and of a champion's gain nothing
is known."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolake.errors import InputError
from evolake.lazy import Lazy
from evolake.lines import lines
from evolake.report.gain import Gain
from evolake.report.standing import Ask, Standing

if TYPE_CHECKING:
    from evolake.lake import Catalogue, Lake


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


def nothing_more(
    _lake: Lake, artifact: Artifact, _folder: Path, _cycle: str, models: Collection[str]
) -> tuple[str, Sequence[str]]:
    """Of a kind to which nothing belongs next to itself."""
    if models:
        raise InputError(
            f"to a {artifact.kind} belongs no model",
            do=f"leave {' and '.join(map('--{}'.format, models))} out",
        )
    return "", ()


def no_remarks(_lake: Lake, _artifact: Artifact) -> Sequence[str]:
    """Of a kind of which its tables say all."""
    return ()


def lower_is_better(_lake: Lake, _row: Row) -> bool:
    """Of a kind that is ranked by a consensus, or by nothing."""
    return False


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
        belongings: writes what belongs to a champion next to itself (lake, artifact, folder, cycle, which
            whole models: of `base` and `merge`), as a policy; gives what goes before and after the text of
            its README.
        changed: its row and its parents' -> what it changed, in words.
        remarks: further lines that are shown of it, after its scores.
        score: column of its row, else of a table of scores, that it is ranked by; "" for none.
            higher_is_better: (lake, its row) -> whether a higher one is better.
        files: its texts by name, if they are several.
    """

    key: str = ""
    tables: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()
    title: str = ""
    text: Callable[[Lake, Artifact], str] = blob_text
    file: str = "artifact.txt"
    write: Callable[[Lake, Artifact, Path], str] | None = None
    belongings: Callable[[Lake, Artifact, Path, str, Collection[str]], tuple[str, Sequence[str]]] = (
        nothing_more
    )
    changed: Callable[[Row, Sequence[Row]], str] = nothing_said
    remarks: Callable[[Lake, Artifact], Sequence[str]] = no_remarks
    score: str = ""
    higher_is_better: Callable[[Lake, Row], bool] = lower_is_better
    files: Callable[[Lake, Artifact], Mapping[str, str]] | None = None

    def files_of(self, lake: Lake, artifact: Artifact) -> Mapping[str, str]:
        """Return its texts by name."""
        return self.files(lake, artifact) if self.files else {self.file: self.text(lake, artifact)}

    def score_of(self, row: Row, scores: Mapping[str, Row]) -> float | None:
        """Return what it is ranked by; None if it has no score. scores: table -> its newest row."""
        value = next((held[self.score] for held in (row, *scores.values()) if self.score in held), None)
        return float(value) if isinstance(value, int | float) else None

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


def unknown_gain(_lake: Lake, _artifact_id: str, _cycle: str, _since: str) -> Gain | None:
    """Of a line that measures no gain."""
    return None


@dataclass(frozen=True)
class Exhibit:
    """What a page shows of a gain. pictures: title -> PNG. texts: title -> text, as it was written. note: why
    something is missing."""

    pictures: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    note: str = ""


@dataclass(frozen=True)
class LineArtifacts:
    """What a line says of its artifacts.

    Attributes:
        gain: (lake, champion's id, the finished cycle at whose end it holds the title, since which cycle) ->
            its gain, None if none was measured.
        score: what the number in `champions` is.
        titles: of a line with several titles side by side: SELECT of name, cycle, artifact_id and score;
            `champions` holds the first by name.
        outcome: (catalogue, a finished cycle) -> one plain sentence for the user who watches; None: champion,
            gain and how many were accepted.
        crowns_none: of a line that has no champion by its nature: what to look at instead.
        `standing`: (shared `Standing`, lake, ask) -> the line's row in the table of all lines; None: the
            shared one. A study is in that table only if it has one, which gives None before the study is
            complete.
        gained: (lake, ask) -> what the line gained in the newest finished cycle, in a sentence that a person
            can repeat, "" for nothing; None: its row of the table of all lines says it.
        exhibit: (lake, ask) -> what shows it; asked only after `gained` said something.
        evaluations: of a line whose evaluations are not in table `evaluations`: the question of that name in
            `logs.sql`, in its tables.
        kinds: kind, as in `artifacts`, -> how it is found, shown and written.
    """

    gain: Callable[[Lake, str, str, str], Gain | None] = unknown_gain
    score: str = "consensus"
    crowns_none: str = ""
    titles: str = ""
    evaluations: str = ""
    outcome: Callable[[Catalogue, str], str] | None = None
    standing: Callable[[Standing, Lake, Ask], Standing | None] | None = None
    gained: Lazy[Callable[[Lake, Ask], str]] | None = None
    exhibit: Lazy[Callable[[Lake, Ask], Exhibit]] | None = None
    kinds: Mapping[str, Kind] = field(default_factory=dict[str, Kind])


def artifacts_of(line: str) -> LineArtifacts:
    """Return what `line` says; the defaults where it says nothing or is not installed."""
    spec = lines().get(line)
    return spec.artifacts.load() if spec and spec.artifacts else LineArtifacts()


def kind_of(artifact: Artifact) -> Kind:
    """Return how an artifact is found, shown and written."""
    return artifacts_of(artifact.line).kinds.get(artifact.kind, Kind())
