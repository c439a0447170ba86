"""Who is champion of a line, since when, with which gain and from whom: what `evolake status`, `evolake
champion`, reports and the ancestry say.

A champion is that of a finished cycle. Each cycle writes one row of `champions`; who holds the title without
a break since an earlier cycle holds it since then. A line that has a champion from its seeds on has it since
its first cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evolake.errors import InputError
from evolake.report.artifacts import artifacts_of
from evolake.report.gain import Gain
from evolake.report.status import known_line, sealed_cycles

if TYPE_CHECKING:
    from evolake.lake import Catalogue, Lake

SEED_ROUND = "0000"
CROWNED = """
SELECT champions.cycle, champions.artifact_id, champions.score, known.kind, known.title, known.content_sha
FROM champions LEFT JOIN known_artifacts AS known USING (artifact_id)
WHERE champions.line = $line AND champions.cycle <= $cycle ORDER BY champions.cycle DESC"""
OF_TITLE = """
SELECT held.cycle, held.artifact_id, held.score, known.kind, known.title, known.content_sha
FROM ({titles}) AS held LEFT JOIN known_artifacts AS known USING (artifact_id)
WHERE held.name = $name AND held.cycle <= $cycle ORDER BY held.cycle DESC"""
ANCESTRY = "SELECT cycle, artifact_id, operator, title FROM ancestry($id)"
"""The champion, last, after all that it descends from."""


@dataclass(frozen=True)
class Champion:
    """Who holds the title at the end of `cycle`, the newest finished one that is asked about, and has held it
    since the end of `since`.

    ancestors: how many artifacts it descends from; None where that was not asked. score: what the line's
    `LineArtifacts.score` names; None before the first cycle.
    """

    line: str
    artifact_id: str
    kind: str
    title: str
    content_sha: str
    cycle: str
    since: str
    score: float | None
    ancestors: int | None
    gain: Gain | None

    @property
    def name(self) -> str:
        """Title and the beginning of the id."""
        return f"{self.title} ({self.artifact_id[:12]})"


def champion_of(
    lake: Lake,
    catalogue: Catalogue,
    line: str,
    cycle: str | None = None,
    *,
    closing: bool = False,
    ancestry: bool = False,
    title: str = "",
    done: list[str] | None = None,
) -> Champion | None:
    """Return the champion of `line` at the end of `cycle`, by default of the newest finished one; None if
    none was promoted.

    Before the first finished cycle it is the one of the seeds, if the line has one. closing: the cycle has
    published all that it has, and is about to be sealed. ancestry: count its ancestors. title: of a line with
    several (`LineArtifacts.titles`), which; "" for the first by name. done: the line's finished cycles, where
    they have been read already.
    """
    done = sealed_cycles(lake, line) if done is None else done
    until = cycle or (done[-1] if done else SEED_ROUND)
    if title:
        rows = catalogue.frame(
            OF_TITLE.format(titles=artifacts_of(line).titles), {"name": title, "cycle": until}
        ).to_dicts()
    else:
        rows = catalogue.frame(CROWNED, {"line": line, "cycle": until}).to_dicts()
    if not rows:
        return None
    newest = rows[0]
    since = _since(rows)
    artifact_id = str(newest["artifact_id"])
    summary = newest["cycle"] in done or (closing and newest["cycle"] == cycle)
    gain = artifacts_of(line).gain(lake, artifact_id, newest["cycle"], since) if summary else None
    ancestors = catalogue.frame(ANCESTRY, {"id": artifact_id})["artifact_id"].to_list() if ancestry else None
    return Champion(
        line,
        artifact_id,
        newest["kind"] or "",
        newest["title"] or artifact_id[:12],
        newest["content_sha"] or "",
        newest["cycle"],
        since,
        newest["score"],
        None if ancestors is None else sum(name != artifact_id for name in ancestors),
        _named(catalogue, gain),
    )


def titles_of(lake: Lake, catalogue: Catalogue, line: str) -> list[str]:
    """Return names of the titles of a line that has several, by name; none for any other line, and before the
    first finished cycle."""
    done = sealed_cycles(lake, line)
    if not (titles := artifacts_of(line).titles) or not done:
        return []
    result = catalogue.frame(
        f"SELECT DISTINCT name FROM ({titles}) WHERE cycle = $cycle ORDER BY name", {"cycle": done[-1]}
    )
    return result["name"].to_list()


def current_champion(lake: Lake, catalogue: Catalogue, line: str, title: str = "") -> Champion:
    """Do as `champion_of`.

    Raises:
        InputError: there is no champion: says whether the line promotes none, and what to look at then; or no
            such title.
    """
    if instead := artifacts_of(line).crowns_none:
        raise InputError(f"{line} has no champion", do=instead)
    known_line(lake.root, line)
    if title and title not in (known := titles_of(lake, catalogue, line)):
        if not artifacts_of(line).titles:
            raise InputError(
                f"the line {line} has one champion, and no projects", got=title, do="leave --project out"
            )
        raise InputError(
            f"the line {line} has no champion of a project {title!r}",
            wanted=f"one of {', '.join(known) or 'none yet'}",
        )
    result = champion_of(lake, catalogue, line, ancestry=True, title=title)
    if result is None:
        done = len(sealed_cycles(lake, line))
        do = (
            f"run a cycle: evolake run --lines {line}"
            if not done
            else f"see what it has: evolake report --lines {line} --out FILE"
        )
        raise InputError(f"line {line!r} has no champion{f' after {done} cycles' if done else ' yet'}", do=do)
    return result


def _since(rows: Sequence[dict[str, Any]]) -> str:
    """Return the first cycle of the unbroken title. rows: newest first; the seeds' row counts if there is no
    other."""
    since = rows[0]["cycle"]
    for row in rows:
        if row["artifact_id"] != rows[0]["artifact_id"] or row["cycle"] == SEED_ROUND:
            break
        since = row["cycle"]
    return since


def _named(catalogue: Catalogue, gain: Gain | None) -> Gain | None:
    """With the title of what it was measured against, where the line did not call it anything."""
    if gain is None or gain.against:
        return gain
    result = catalogue.query(
        "SELECT title FROM known_artifacts WHERE artifact_id = $id", {"id": gain.against_id}
    ).rows
    return replace(gain, against=result[0][0] if result else gain.against_id[:12])
