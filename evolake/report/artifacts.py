"""What a line says of its artifacts beyond the tables that all lines share: `LineSpec.artifacts` names a
`LineArtifacts`.

A line that names none has the defaults: an artifact is the blob that its row names, and of a champion's gain
nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evolake.lines import lines
from evolake.report.gain import Gain
from evolake.report.kinds import Artifact, Kind
from evolake.report.standing import Ask, Standing

if TYPE_CHECKING:
    from evolake.lake import Catalogue, Lake


def unknown_gain(_lake: Lake, _artifact_id: str, _cycle: str, _since: str) -> Gain | None:
    """Of a line that measures no gain."""
    return None


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
        kinds: kind, as in `artifacts`, -> how it is found, shown and written.
    """

    gain: Callable[[Lake, str, str, str], Gain | None] = unknown_gain
    score: str = "consensus"
    crowns_none: str = ""
    titles: str = ""
    outcome: Callable[[Catalogue, str], str] | None = None
    standing: Callable[[Standing, Lake, Ask], Standing | None] | None = None
    kinds: Mapping[str, Kind] = field(default_factory=dict[str, Kind])


def artifacts_of(line: str) -> LineArtifacts:
    """Return what `line` says; the defaults where it says nothing or is not installed."""
    spec = lines().get(line)
    return spec.artifacts.load() if spec and spec.artifacts else LineArtifacts()


def kind_of(artifact: Artifact) -> Kind:
    """Return how an artifact is found, shown and written."""
    return artifacts_of(artifact.line).kinds.get(artifact.kind, Kind())
