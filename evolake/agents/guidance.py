"""Guidance: what a person asks the planners to heed, kept with its lineage in the lake.

A note is seen by the planners of its line from the next cycle on, and stays so: the cycle it starts with is
decided when it is stored, from the line's seals, and never looked up again, so any old cycle materializes
again with the guidance it had. A withdrawal is a row like any other, with its own first cycle; nothing is
deleted. The table is `guidance.notes`: one row per note and line; a note for all lines has a further row `*`
for lines that do not exist yet.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.lake import Lake, following
from evolake.lake.schemas import GUIDANCE
from evolake.lines import lines

LINE, ASSET = "guidance", "notes"
EVERY_LINE = "*"
FIRST_CYCLE = "0001"
MAX_CHARS = 4_000
LOCK_WAIT_S = 10.0


@dataclass(frozen=True)
class Guidance:
    """One note. `line` None: for every line. `since`: line -> first cycle that sees it. `withdrawn`: line ->
    first cycle that no longer does."""

    id: str
    text: str
    created_at: datetime
    line: str | None
    since: dict[str, str]
    withdrawn: dict[str, str]

    def seen_in(self, line: str, cycle: str) -> bool:
        """Return whether the planners of a line see this note in a cycle."""
        since, until = _of(self.since, line), _of(self.withdrawn, line)
        return since is not None and int(since) <= int(cycle) and (until is None or int(cycle) < int(until))


def store_guidance(
    lake_root: Path,
    text: str,
    line: str | None = None,
    *,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Guidance:
    """Keep a note for one line, or for all.

    Raises:
        InputError: no text, too much of it, or no such line.
        PartitionBusy: another process has been writing guidance for ten seconds.
    """
    text = text.strip()
    if not text or len(text) > MAX_CHARS:
        raise InputError(
            "guidance needs a text", wanted=f"1 to {MAX_CHARS} characters", got=f"{len(text)} characters"
        )
    if line is not None and line not in lines():
        raise InputError(f"no line named {line!r}", wanted=f"one of {', '.join(lines())}")
    lake = Lake(lake_root)
    with lake.line_lock(LINE, run_id="guide", timeout_s=LOCK_WAIT_S):
        known, now = _rows(lake), clock()
        note = _note_id("note", text, line or EVERY_LINE, now, len(known))
        since = (
            {line: next_cycle(lake, line)}
            if line
            else {each: next_cycle(lake, each) for each in lake.seals.lines()} | {EVERY_LINE: FIRST_CYCLE}
        )
        _publish(lake, known, [_row(note, each, cycle, text, None, now) for each, cycle in since.items()])
    return Guidance(note, text, now, line, since, {})


def withdraw_guidance(
    lake_root: Path, note: str, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> Guidance:
    """Take a note back from the next cycle on. `note` is its id or the beginning of it. Withdrawing twice
    changes nothing.

    Raises:
        InputError: no such note, or several begin so.
    """
    lake = Lake(lake_root)
    with lake.line_lock(LINE, run_id="guide", timeout_s=LOCK_WAIT_S):
        known = _rows(lake)
        notes = [each for each in _notes(known) if note and each.id.startswith(note)]
        if len(notes) != 1:
            raise InputError(
                f"{'several notes begin' if notes else 'no note begins'} with {note!r}",
                wanted="the id of one note",
                got=", ".join(each.id for each in notes) or None,
                do="evolake guide --list shows the ids",
            )
        result, now = notes[0], clock()
        if not result.withdrawn:
            concerned = [result.line] if result.line else sorted(set(result.since) | set(lake.seals.lines()))
            until = {
                each: FIRST_CYCLE if each == EVERY_LINE else next_cycle(lake, each) for each in concerned
            }
            withdrawal = _note_id("withdrawal", result.id, result.line or EVERY_LINE, now, len(known))
            _publish(
                lake,
                known,
                [_row(withdrawal, each, cycle, "", result.id, now) for each, cycle in until.items()],
            )
    return next(each for each in all_guidance(lake_root) if each.id == result.id)


def read_guidance(lake_root: Path, line: str, cycle: str) -> list[Guidance]:
    """Return the notes that the planners of a line see in a cycle, oldest first."""
    return [note for note in all_guidance(lake_root) if note.seen_in(line, cycle)]


def all_guidance(lake_root: Path) -> list[Guidance]:
    """Return every note ever stored, oldest first, the withdrawn too."""
    return _notes(_rows(Lake(lake_root)))


def next_cycle(lake: Lake, line: str) -> str:
    """Return the next cycle of a line that has not begun: the one that was reopened, else the newest sealed
    one or, when that has begun, the one after.
    """
    newest = FIRST_CYCLE
    for cycle in lake.seals.cycles(line):
        seal = lake.seals.read(line, cycle)
        if seal is not None and seal.state == "reopened":
            return cycle
        newest = cycle
    return following(newest) if _begun(lake, line, newest) else newest


def _begun(lake: Lake, line: str, cycle: str) -> bool:
    """Return whether anything but the population that enters it has been published in a cycle."""
    seal = lake.seals.read(line, cycle)
    entering = {name.partition("@")[0] for name in seal.tables} if seal else set()
    return any(
        cycle in lake.cycles(line, asset)
        for owner, asset in lake.assets()
        if owner == line and asset not in entering
    )


def _rows(lake: Lake) -> list[dict[str, Any]]:
    return [] if lake.record(LINE, ASSET) is None else lake.read(LINE, ASSET).to_dicts()


def _publish(lake: Lake, known: list[dict[str, Any]], new: list[dict[str, Any]]) -> None:
    lake.publish(LINE, ASSET, GUIDANCE.frame([*known, *new]), cycle=None, run_id="guide", schema=GUIDANCE)


def _row(note: str, line: str, since: str, text: str, withdraws: str | None, now: datetime) -> dict[str, Any]:
    return {
        "guidance_id": note,
        "line": line,
        "since_cycle": since,
        "text": text,
        "withdraws": withdraws,
        "created_at": now,
    }


def _notes(rows: list[dict[str, Any]]) -> list[Guidance]:
    since: dict[str, dict[str, str]] = {}
    until: dict[str, dict[str, str]] = {}
    first: dict[str, dict[str, Any]] = {}
    for row in rows:
        note = row["withdraws"] or row["guidance_id"]
        (until if row["withdraws"] else since).setdefault(note, {})[row["line"]] = row["since_cycle"]
        if not row["withdraws"]:
            first.setdefault(note, row)
    return [
        Guidance(
            note,
            row["text"],
            row["created_at"],
            None if EVERY_LINE in since[note] else row["line"],
            since[note],
            until.get(note, {}),
        )
        for note, row in first.items()
    ]


def _of(cycles: dict[str, str], line: str) -> str | None:
    return cycles.get(line, cycles.get(EVERY_LINE))


def _note_id(kind: str, text: str, line: str, now: datetime, number: int) -> str:
    return hashlib.sha256("\x1f".join([kind, text, line, now.isoformat(), str(number)]).encode()).hexdigest()[
        :12
    ]
