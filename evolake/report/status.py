"""Where each line stands, from the seals and the shared tables of the lake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.lake import Catalogue, Lake, explain_broken


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


def sealed_cycles(lake: Lake, line: str) -> list[str]:
    """Cycles that are done: those whose successor's population is sealed on an unbroken chain."""
    done: list[str] = []
    for cycle in lake.seals.cycles(line)[1:]:
        if lake.seals.broken_link(line, cycle):
            break
        done.append(f"{int(cycle) - 1:04d}")
    return done


def line_status(root: Path, line: str) -> dict[str, Any]:
    """One line: cycles done, the next one, counts of artifacts, the champion, and the broken link where there is one."""
    lake = Lake(root)
    done = sealed_cycles(lake, line)
    following = f"{len(done) + 1:04d}"
    newest = lake.seals.cycles(line)[-1] if lake.seals.cycles(line) else "0001"
    broken = lake.seals.broken_link(line, newest)
    with Catalogue(lake) as catalogue:
        counted = "SELECT state, count(DISTINCT artifact_id) FROM artifacts WHERE line = $line GROUP BY state"
        counts = dict(catalogue.query(counted, {"line": line}).rows)
        champions = catalogue.query(
            "SELECT c.artifact_id, c.cycle, c.score, any_value(a.title) FROM champions AS c JOIN artifacts AS a USING (artifact_id) "
            "WHERE c.line = $line GROUP BY ALL ORDER BY c.cycle DESC LIMIT 1", {"line": line},
        ).rows
    champion = champions[0] if champions else None
    return {
        "line": line, "sealed_cycles": len(done), "next_cycle": following, "accepted": counts.get("accepted", 0), "blocked": counts.get("blocked", 0),
        "champion": f"{champion[3]} ({champion[0][:12]}) since cycle {champion[1]}" if champion else None,
        "champion_id": champion[0] if champion else None, "broken": explain_broken(line, newest, *broken) if broken else None,
    }
