"""What a writer is sent of the limits: time and memory of an evaluation, what the sandbox has, how
evaluations are counted."""

from __future__ import annotations

import importlib.metadata
import sys
from typing import TYPE_CHECKING

from evolake.errors import InputError
from evolake.programs.sandbox.packages import requirements_of

if TYPE_CHECKING:
    from evolake.programs.evolution.context import Context

LIBRARIES = ("numpy", "scipy")
"""Packages in addition to evolake that a program may find useful; those of the project's requirements.txt are
added."""


def limits_text(context: Context) -> str:
    """Return the limits of an evaluation, and what it costs, in lines."""
    limits, project, seeds = context.evaluator.limits, context.project, len(context.seeds())
    who = "the program alone" if project.mode == "separate" else "program and evaluator together"
    lines = [
        f"- One evaluation: {limits.cpu_s:g} s of processor time, {limits.wall_s:g} s on the clock, "
        f"{limits.memory_mb} MiB, for {who}. "
        "A program that exceeds a limit is blocked."
    ]
    if project.python:
        lines.append(
            f"- Python {sys.version_info.major}.{sys.version_info.minor} with "
            f"{', '.join(_libraries(context))}; no network."
        )
    if seeds > 1:
        lines.append(f"- A candidate is evaluated under {seeds} seeds, and the score is the mean.")
    if context.session is not None:
        lines.append(
            "- Every evaluation that you ask for counts like one of a candidate, and so does every script "
            "that you run."
        )
        left, turns = context.own.session_evaluations, context.turns
        lines.append(
            f"- This session: {turns} turns and {left} evaluations at most."
            if turns
            else f"- This session: {left} evaluations at most."
        )
    elif context.own.revisions:
        lines.append(
            "- A program that fails, or scores best so far, may be revised once after its evaluation."
        )
    return "\n".join(lines)


def _libraries(context: Context) -> list[str]:
    """Return packages with their versions."""
    try:
        wanted = [item.name for item in requirements_of(context.project)]
    except InputError:
        wanted = []
    found = []
    for name in dict.fromkeys((*LIBRARIES, *wanted)):
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return [*found, "the standard library"]
