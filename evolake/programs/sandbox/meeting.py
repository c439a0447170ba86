"""Decide how evaluator and program of a project meet, where project.toml leaves it open.

The texts decide first (`programs.model.evaluator_text`), then one evaluation of the initial program.
"""

from __future__ import annotations

import threading
from dataclasses import replace

from evolake.jail.backends import backend
from evolake.programs.model.project import Project, with_files
from evolake.programs.sandbox.evaluating import Evaluation, Evaluator
from evolake.programs.settings import ProgramsSettings

SEED = 0
CALL_S, BYTE_S = 5e-5, 6e-8
"""What a call costs, and each byte that it carries: an estimate from one machine (20,000 calls of one number
took 0.96 s, 1,000 of a list of a thousand numbers 0.63 s). It is multiplied with counts, so that how busy the
machine is decides nothing."""
SLOWEST, SLOWEST_S = 2.0, 1.0
"""The calls of an evaluation may cost so many times its processor time in one process, or so many seconds."""


def with_mode(project: Project, own: ProgramsSettings, mode: str | None = None) -> Project:
    """Return the project with the mode that its evaluations have: "calls" only if the initial program can be
    evaluated so.

    Every process comes to the same result from the same files. mode: of the jail.
    """
    if project.mode != "calls" or project.given.evaluator.mode:
        return project
    if backend(mode).mode != "bubblewrap":
        return replace(
            project,
            mode="imports",
            open_because="in the weaker jail the program could look into the evaluator's process",
        )
    key = (project.name, project.sha, own.model_dump_json(), mode)
    with _lock:
        if key not in _found:
            initial = with_files(project, {project.main: project.files[project.main].decode()})
            _found[key] = _found_by_running(initial, own, mode)
        found = _found[key]
    return replace(project, mode="imports", open_because=found) if found else project


_found: dict[tuple[str, str, str, str | None], str] = {}
_lock = threading.Lock()


def _found_by_running(initial: Project, own: ProgramsSettings, mode: str | None) -> str:
    """Return why the initial program is to be imported; "" if it can be called."""
    called = _evaluated(initial, own, mode)
    cost = CALL_S * called.calls + BYTE_S * called.carried
    if called.ok and not called.troubles and cost <= SLOWEST_S:
        return ""
    imported = _evaluated(replace(initial, mode="imports"), own, mode)
    if not imported.ok:
        return ""
    if called.troubles:
        return called.troubles[0]
    if not called.ok:
        return f"the initial program fails where it is called in another process: {called.reason}"
    slow = cost > max(SLOWEST * imported.cpu_s, SLOWEST_S)
    return f"calls take too long: {called.calls:,} of them carry {called.carried:,} bytes" if slow else ""


def _evaluated(project: Project, own: ProgramsSettings, mode: str | None) -> Evaluation:
    with Evaluator(project, own, mode=mode) as evaluator:
        return evaluator.evaluate(project.evolving, SEED, watch=True)
