"""Sections are of finished cycles: those whose population has been sealed for the next one."""

from __future__ import annotations

from evolake.errors import InputError
from evolake.lake import Lake, following


def require_finished(lake: Lake, line: str, cycle: str) -> None:
    """Raise InputError where the cycle of the line is not finished."""
    seal = lake.seals.read(line, following(cycle))
    if seal is None or seal.state != "sealed":
        raise InputError(
            f"cycle {cycle} of the {line} line is not finished", do=f"evolake run --lines {line}"
        )
