"""The state of each line, from the seals and the shared tables of the lake: what `evolake status` shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evolake.errors import LakeError
from evolake.lake import Catalogue, Lake, explain_broken
from evolake.report.champion import champion_of
from evolake.report.status import finished_cycles

COUNTED = """
SELECT count(DISTINCT artifact_id) FILTER (state IN ('accepted', 'champion', 'retired')),
  count(DISTINCT artifact_id) FILTER (state = 'blocked')
FROM artifacts WHERE line = $line"""
"""Artifacts that were ever accepted (a champion or a retired one was), and those that were ever blocked."""

PROVED = """
SELECT count(*) FILTER (e.status IN ('solved', 'unsolved')), count(*) FILTER (e.status = 'solved'
  AND e.certificate IS NOT NULL),
  coalesce(bool_or(e.certificate = 'proof'), false)
FROM evaluations AS e WHERE e.artifact_id IN (SELECT artifact_id FROM artifacts WHERE line = $line)"""
"""Answers of measured runs, those with a certificate, and whether proofs are among them."""


def lake_status(root: Path) -> tuple[list[dict[str, Any]], dict[str, LakeError]]:
    """Return each line as `line_status` has it, and `<line>.<asset>` -> why, of each table whose manifest
    cannot be believed."""
    lake = Lake(root)
    with Catalogue(lake, shared_only=True) as catalogue:
        return [line_status(lake, catalogue, line) for line in lake.seals.lines()], dict(catalogue.damaged)


def line_status(lake: Lake, catalogue: Catalogue, line: str) -> dict[str, Any]:
    """Return one line: cycles done, the next one, counts of artifacts, the champion, and the broken link if
    there is one."""
    seals, broken = lake.seals.chain(line)
    newest = max(seals, default="0001")
    broken = broken if seals else lake.seals.broken_link(line, newest)
    done = finished_cycles(sorted(seals), int(broken[0]) - 1 if broken else int(newest))
    following = f"{len(done) + 1:04d}"
    accepted, blocked = catalogue.query(COUNTED, {"line": line}).rows[0]
    proved = catalogue.query(PROVED, {"line": line}).rows[0]
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
    }
