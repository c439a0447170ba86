"""Which lines a lake holds and which of their cycles are finished, from the seals."""

from __future__ import annotations

from pathlib import Path

from evolake.errors import InputError
from evolake.lake import Lake, preceding


def lines_in_lake(root: Path) -> list[str]:
    """Return lines that have at least one seal, by name."""
    return Lake(root).seals.lines()


def known_line(root: Path, line: str) -> str:
    """Return `line`, where the lake holds it.

    Raises:
        InputError: it does not; lists what there is.
    """
    lines = lines_in_lake(root)
    if line not in lines:
        raise InputError(
            f"no line {line!r} in the lake {root}",
            wanted=f"one of {', '.join(lines) or '(none yet)'}",
            do="run `evolake status`",
        )
    return line


def finished(root: Path, line: str, cycle: str) -> Lake:
    """Return the lake of a finished cycle.

    Raises:
        InputError: the lake has no such line or no such finished cycle.
    """
    known_line(root, line)
    lake = Lake(root)
    done = sealed_cycles(lake, line)
    if cycle not in done:
        raise InputError(
            f"cycle {cycle!r} of {line} is not finished",
            wanted=f"one of {', '.join(done) or '(none yet)'}",
            do="run `evolake status`",
        )
    return lake


def sealed_cycles(lake: Lake, line: str) -> list[str]:
    """Return cycles that are done: those whose successor's population is sealed on an unbroken chain."""
    return finished_cycles(lake.seals.cycles(line), lake.seals.whole_up_to(line))


def finished_cycles(cycles: list[str], whole: int) -> list[str]:
    """Return the cycles before those that are sealed, up to where the chain is unbroken."""
    return [preceding(cycle) or "" for cycle in cycles[1:] if int(cycle) <= whole]
