"""Audit a project when it enters the programs line: can its score be forged? Its seconds are limited, and the
verdict counts until the project or the settings change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evolake import __version__
from evolake.canonical_json import key_of
from evolake.errors import HostBusy, InputError
from evolake.jail.protocol import one_line
from evolake.programs.audit.auditing import SEEDS
from evolake.programs.audit.soundness import CYCLE, LINE, Budget, Referee, Soundness, sound
from evolake.programs.audit.verdict import SOUND, UNSOUND
from evolake.programs.evolution.budgeted_search import processor_seconds
from evolake.programs.model.project import Project
from evolake.programs.settings import ProgramsSettings
from evolake.seeds import child_seed
from evolake.settings import Settings

NOT_AUDITED = "not audited"
LONGEST = 400
"""Characters of one text of a row."""


def entry_key(project: Project, own: ProgramsSettings, settings: Settings) -> str:
    """Return what the audit of a project at its entry depends on."""
    facts = {
        "project": project.sha,
        "name": project.name,
        "mode": project.mode,
        "limits": own.model_dump(include={"audit_s", "cpu_s", "wall_s", "memory_mb", "processes"}),
        "seed": settings.seed,
        "jail": settings.jail,
        "version": __version__,
    }
    return key_of(facts, ascii_only=True)


def entry_audit(project: Project, own: ProgramsSettings, settings: Settings) -> dict[str, Any]:
    """Return a row of ENTRY_AUDITS without its cycle. A project that cannot be audited has the reason as its
    verdict's note: it enters all the same."""
    row: dict[str, Any] = {
        "project": project.name,
        "key": entry_key(project, own, settings),
        "verdict": NOT_AUDITED,
        "tried": 0,
        "made": 0,
        "cpu_s": 0.0,
    }
    if not project.python:
        return row | {"findings": [], "notes": ["attacks are made for programs in Python"]}
    try:
        found, row["cpu_s"] = _attacked(project, own, settings)
    except (InputError, HostBusy) as error:
        row |= {"findings": [], "notes": [one_line(str(error), LONGEST)]}
    else:
        row |= {
            "verdict": UNSOUND if found.findings else SOUND,
            "tried": found.tried,
            "made": found.made,
            "findings": [one_line(f"{item.name}: {item.reason}", LONGEST) for item in found.findings],
            "notes": [one_line(item, LONGEST) for item in found.notes],
        }
    return row


def _attacked(project: Project, own: ProgramsSettings, settings: Settings) -> tuple[Soundness, float]:
    """Return what attacks found, and their processor seconds, read while the jails are still there."""
    began = processor_seconds()
    seeds = [
        child_seed(settings.seed, LINE, CYCLE, f"attack/{project.name}", place) for place in range(SEEDS)
    ]
    with Referee(project, own, seeds, workers=settings.workers, jail=settings.jail) as referee:
        found = sound(referee, Budget(own.audit_s), f"evolake audit {project.name}")
        return found, max(0.0, processor_seconds() - began)


def in_words(row: Mapping[str, Any]) -> str:
    """Return the findings of a row in a few words; "" if there is none."""
    kinds = dict.fromkeys(text.partition(":")[0] for text in row["findings"])
    if not kinds:
        return ""
    return f"its score can be forged ({', '.join(kinds)}): evolake audit {row['project']} --only evaluator"
