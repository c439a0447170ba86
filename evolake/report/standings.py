"""Show all lines in one table (`evolake status`): the state of each, what leads it, what it started from, how
much was gained, and what that took.

What every line shares comes from its story, the seals and the shared tables. What only the line knows its
`LineArtifacts.standing` adds: a function (the shared `Standing`, lake, ask) -> that of the line. Of a study,
which finishes no cycle, the function gives None before the study is complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evolake.errors import LakeError
from evolake.lake import Catalogue, Lake, explain_broken
from evolake.lines import lines
from evolake.report.artifacts import artifacts_of
from evolake.report.champion import champion_of
from evolake.report.finished_cycle import as_rows, asking, questions
from evolake.report.gain import Gain
from evolake.report.numbers import figures
from evolake.report.rules_applied import half_applied
from evolake.report.standing import COLUMNS, NOBODY, NOT_MEASURED, Standing
from evolake.report.status import finished_cycles, sealed_cycles
from evolake.report.story import story_in
from evolake.settings import load
from evolake.terminal import columns_text

SQL = questions("evolake.report", "standings.sql")


def standings(lake: Lake) -> list[Standing]:
    """Return a row for every line with a finished cycle and every study with a result, by name.

    Raises:
        LakeError: a table that is needed is damaged.
    """
    names = sorted({*lines(), *lake.seals.lines()})
    return [row for row in (standing_of(lake, name) for name in names) if row is not None]


def standing_of(lake: Lake, line: str) -> Standing | None:
    """Return the row of one line after its newest finished cycle; None if it has none and its state does not
    say otherwise."""
    spec, done, own = lines().get(line), sealed_cycles(lake, line), artifacts_of(line).standing
    is_study = own is not None and spec is not None and bool(spec.findings)
    if not done and not is_study:
        return None
    with asking(lake, line, done[-1] if done else "") as (catalogue, frames):
        ask = as_rows(frames)
        evaluations, seconds = ask(SQL["evaluated"])[0]["evaluations"], ask(SQL["took"])[0]["seconds"]
        shared = Standing(line, evaluations=evaluations or None, seconds=seconds)
        if done:
            story = story_in(lake, catalogue, ask, line, done[-1])
            champion = champion_of(lake, catalogue, line, done[-1], done=done)
            shared = with_gain(
                shared,
                champion.gain if champion else None,
                len(done),
                story.champion or story.leads or NOBODY,
            )
            if not shared.is_gain:
                shared = replace(shared, gain=story.short_gain or story.gain or NOT_MEASURED)
        return own(shared, lake, ask) if own else shared


def with_gain(shared: Standing, gain: Gain | None, cycles: int, best: str) -> Standing:
    """Return the row with a champion's gain: its figures next to those of what it was measured against."""
    if gain is None:
        return replace(shared, cycles=cycles, best=best)
    own, other = (
        "" if value is None else f" ({figures(value) if gain.is_ratio else f'{value:.1%}'})"
        for value in (gain.own, gain.other)
    )
    ends = {name: getattr(gain.interval, name) for name in ("estimate", "low", "high", "level")}
    return replace(
        shared,
        cycles=cycles,
        best=f"{best}{own}",
        start=f"{gain.against}{other}",
        gain=gain.short,
        is_gain=gain.is_gain,
        **ends,
    )


def as_table(rows: Sequence[Standing], width: int) -> str:
    """Return the rows as text of `width` characters a line; a long cell continues below itself and nothing is
    cut."""
    return columns_text(
        COLUMNS, (row.cells() for row in rows), width, numbers=("evaluations", "seconds"), whole=("line",)
    )


def lake_status(root: Path) -> tuple[list[dict[str, Any]], dict[str, LakeError]]:
    """Return each line as `line_status` has it, and `<line>.<asset>` -> why, of each table whose manifest
    cannot be believed."""
    lake = Lake(root)
    with Catalogue(lake, shared_only=True) as catalogue:
        return [line_status(lake, catalogue, line) for line in lake.seals.lines()], dict(catalogue.damaged)


def line_status(lake: Lake, catalogue: Catalogue, line: str) -> dict[str, Any]:
    """Return one line: cycles done, the next one, counts of artifacts, the champion, the broken link if there
    is one, and whether edited rules are half applied."""
    seals, broken = lake.seals.chain(line)
    newest = max(seals, default="0001")
    broken = broken if seals else lake.seals.broken_link(line, newest)
    done = finished_cycles(sorted(seals), int(broken[0]) - 1 if broken else int(newest))
    following = f"{len(done) + 1:04d}"
    accepted, blocked = catalogue.query(SQL["counted"], {"line": line}).rows[0]
    proved = catalogue.query(SQL["proved"], {"line": line}).rows[0]
    champion = champion_of(lake, catalogue, line, done=done)
    return {
        "line": line,
        "sealed_cycles": len(done),
        "next_cycle": following,
        "accepted": accepted,
        "blocked": blocked,
        "champion": f"{champion.name} since cycle {champion.since}" if champion else None,
        "champion_id": champion.artifact_id if champion else None,
        "champion_since": champion.since if champion else None,
        "gain": champion.gain.to_json() if champion and champion.gain else None,
        "answers": {"certified": proved[1], "given": proved[0]} if proved[2] else None,
        "broken": explain_broken(line, newest, *broken) if broken else None,
        "rules": half_applied(lake, catalogue, line, load().seeds / "rules"),
    }
