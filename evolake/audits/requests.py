"""What is to be audited, kept in a lake so that the audit can be made there, and made again.

The partition is named by the project and by the content: project, run, program, mode and parts. Asking for
the same audit twice is asking once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evolake.audits.tables import LINE, REQUESTED
from evolake.canonical_json import canonical_json, key_of
from evolake.errors import CorruptPart, InputError
from evolake.lake import Lake
from evolake.programs.audit.auditing import Asked, Subject
from evolake.programs.audit.runs import Candidate, Run
from evolake.programs.model.project import pack_files, project_of, unpack_files

MOST_BYTES = 512 << 20
"""Texts of a run's candidates, all together, that a lake takes in."""
LONGEST_NAME, DIGITS = 40, 16


@dataclass(frozen=True)
class Request:
    """What is to be audited, as a lake holds it. key: its partition. sha: of what was asked for."""

    key: str
    sha: str
    asked: Asked
    subject: Subject


def write_request(lake: Lake, asked: Asked, subject: Subject) -> str:
    """Keep what is to be audited; return its partition.

    Raises:
        InputError: the run is too large. LakeError: the lake cannot be written.
    """
    run, project = subject.run, subject.project
    if run is not None and sum(len(item.text) for item in run.candidates) > MOST_BYTES:
        raise InputError(
            f"the run at {asked.path} is too large for a lake",
            wanted=f"texts of at most {MOST_BYTES >> 20} MiB in all",
            do="audit it without --into",
        )
    blobs = {
        "project_sha": None if project is None else pack_files(project.files),
        "run_sha": None if run is None else _bytes(run_json(run)),
        "best_sha": None if subject.best is None else _bytes(subject.best),
    }
    shas = {name: None if data is None else lake.blobs.put(data) for name, data in blobs.items()}
    name = project.name if project else asked.path.resolve().name
    mode = asked.mode or (project.mode if project else "unknown")
    content = {**shas, "name": name, "mode": mode, "parts": sorted(asked.parts)}
    key = f"{_slug(name)}-{key_of(content, ascii_only=True)[:DIGITS]}"
    words = {
        "path": str(asked.path),
        "program": str(asked.program) if asked.program else None,
        "project": str(asked.project) if asked.project else None,
        "mode": asked.mode,
        "parts": list(asked.parts),
        "seconds": asked.seconds,
        "name": name,
    }
    row = {
        "audit": key,
        "path": readable(str(asked.path)),
        "project": readable(name),
        "tool": run.tool if run else None,
        "request_sha": lake.blobs.put(_bytes(words)),
        **shas,
        "asked_at": datetime.now(UTC),
    }
    lake.publish(
        LINE, REQUESTED.name, REQUESTED.frame([row]), cycle=key, run_id="evolake-audit", schema=REQUESTED
    )
    return key


def read_request(lake: Lake, key: str) -> Request:
    """Return what is to be audited in a partition.

    Raises:
        InputError: no audit was asked for there, or it cannot be read any more.
    """
    if lake.record(LINE, REQUESTED.name, key) is None:
        known = lake.cycles(LINE, REQUESTED.name)
        raise InputError(
            f"no audit {key!r} was asked for",
            wanted=f"one of {', '.join(known[:10])}" if known else "an audit",
            do="evolake audit PATH --into LAKE",
        )
    row = lake.read(LINE, REQUESTED.name, key).to_dicts()[0]

    def held(name: str) -> bytes | None:
        return lake.blobs.get(row[name]) if row[name] else None

    words = json.loads(lake.blobs.get(row["request_sha"]))
    files, run, best = held("project_sha"), held("run_sha"), held("best_sha")
    paths: Mapping[str, Path | None] = {
        name: Path(words[name]) if words[name] else None for name in ("program", "project")
    }
    asked = Asked(
        Path(words["path"]),
        paths["program"],
        paths["project"],
        words["mode"],
        "",
        tuple(words["parts"]),
        words["seconds"],
    )
    project = None if files is None else project_of(words["name"], unpack_files(files))
    try:
        subject = Subject(
            project,
            None if run is None else run_of_json(json.loads(run)),
            None if best is None else json.loads(best),
        )
    except (LookupError, TypeError, ValueError) as error:
        raise CorruptPart(f"the run of the audit {key} cannot be read", got=str(error)) from None
    return Request(key, row["request_sha"], asked, subject)


def run_json(run: Run) -> dict[str, Any]:
    """Return a run as JSON values."""
    held = {name: getattr(run, name) for name in ("tool", "best_id", "suffix", "notes", "evaluations")}
    return held | {"candidates": [vars(item) for item in run.candidates]}


def run_of_json(data: Mapping[str, Any]) -> Run:
    """Return the run that `run_json` wrote."""
    candidates = tuple(
        Candidate(**{**item, "parents": tuple(item["parents"])}) for item in data["candidates"]
    )
    given = {name: data[name] for name in ("tool", "best_id", "suffix", "evaluations")}
    return Run(candidates=candidates, notes=tuple(data["notes"]), **given)


def readable(text: str) -> str:
    """Return a text that every table can hold: UTF-8 cannot write half of a pair of surrogates."""
    return text.encode("utf-8", "replace").decode()


def _bytes(value: Any) -> bytes:
    return canonical_json(value, ascii_only=True).encode()


def _slug(name: str) -> str:
    """Return a name as a partition can begin with it."""
    plain = re.sub("[^a-z0-9_]+", "_", name.lower()).strip("_")[:LONGEST_NAME]
    return plain if plain[:1].isalpha() else f"audit_{plain}".rstrip("_")
