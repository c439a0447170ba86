"""Where each line stands, from the seals and the shared tables of the lake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evolake.errors import InputError, LakeError
from evolake.lake import Catalogue, Lake, explain_broken, preceding


def lines_in_lake(root: Path) -> list[str]:
    """Lines that have at least one seal, by name."""
    return Lake(root).seals.lines()


def known_line(root: Path, line: str) -> str:
    """`line`, where the lake holds it.

    Raises:
        InputError: it does not; lists what there is.
    """
    lines = lines_in_lake(root)
    if line not in lines:
        raise InputError(f"no line {line!r} in the lake {root}", wanted=f"one of {', '.join(lines) or '(none yet)'}", do="run `evolake status`")
    return line


def finished(root: Path, line: str, cycle: str) -> Lake:
    """The lake of a finished cycle.

    Raises:
        InputError: the lake has no such line or no such finished cycle.
    """
    known_line(root, line)
    lake = Lake(root)
    done = sealed_cycles(lake, line)
    if cycle not in done:
        raise InputError(f"cycle {cycle!r} of {line} is not finished", wanted=f"one of {', '.join(done) or '(none yet)'}", do="run `evolake status`")
    return lake


def sealed_cycles(lake: Lake, line: str) -> list[str]:
    """Cycles that are done: those whose successor's population is sealed on an unbroken chain."""
    return _done(lake.seals.cycles(line), lake.seals.whole_up_to(line))


def _done(cycles: list[str], whole: int) -> list[str]:
    return [preceding(cycle) or "" for cycle in cycles[1:] if int(cycle) <= whole]


COUNTED = """
SELECT count(DISTINCT artifact_id) FILTER (state IN ('accepted', 'champion', 'retired')), count(DISTINCT artifact_id) FILTER (state = 'blocked')
FROM artifacts WHERE line = $line"""
"""Artifacts that were ever accepted (a champion or a retired one was), and those that were ever blocked."""

PROVED = """
SELECT count(*) FILTER (e.status IN ('solved', 'unsolved')), count(*) FILTER (e.status = 'solved' AND e.certificate IS NOT NULL),
  coalesce(bool_or(e.certificate = 'proof'), false)
FROM evaluations AS e WHERE e.artifact_id IN (SELECT artifact_id FROM artifacts WHERE line = $line)"""
"""Answers of measured runs, those with a certificate, and whether proofs are among them."""


def lake_status(root: Path) -> tuple[list[dict[str, Any]], dict[str, LakeError]]:
    """Each line as `line_status` has it, and `<line>.<asset>` -> why, of each table whose manifest cannot be believed."""
    lake = Lake(root)
    with Catalogue(lake, shared_only=True) as catalogue:
        return [line_status(lake, catalogue, line) for line in lake.seals.lines()], dict(catalogue.damaged)


def line_status(lake: Lake, catalogue: Catalogue, line: str) -> dict[str, Any]:
    """One line: cycles done, the next one, counts of artifacts, the champion, and the broken link where there is one."""
    from evolake.report.champion import champion_of  # which stands on this module

    seals, broken = lake.seals.chain(line)
    newest = max(seals, default="0001")
    broken = broken if seals else lake.seals.broken_link(line, newest)
    done = _done(sorted(seals), int(broken[0]) - 1 if broken else int(newest))
    following = f"{len(done) + 1:04d}"
    accepted, blocked = catalogue.query(COUNTED, {"line": line}).rows[0]
    proved = catalogue.query(PROVED, {"line": line}).rows[0]
    champion = champion_of(lake, catalogue, line, done=done)
    return {
        "line": line, "sealed_cycles": len(done), "next_cycle": following, "accepted": accepted, "blocked": blocked,
        "champion": f"{champion.name} since cycle {champion.since}" if champion else None, "champion_id": champion.artifact_id if champion else None,
        "champion_since": champion.since if champion else None, "gain": champion.gain.to_json() if champion and champion.gain else None,
        "answers": {"certified": proved[1], "given": proved[0]} if proved[2] else None,
        "broken": explain_broken(line, newest, *broken) if broken else None,
    }
