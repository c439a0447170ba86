"""An audit as rows: of the request that is kept in a lake, and of what the audit found."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evolake import __version__
from evolake.audits.requests import Request, readable
from evolake.audits.tables import CANDIDATES, FINDINGS, LINE, MEASUREMENTS, NOTES, VERDICTS
from evolake.canonical_json import canonical_json, key_of
from evolake.lake import Lake
from evolake.programs.audit.auditing import audit
from evolake.programs.audit.measuring import Part
from evolake.programs.audit.verdict import Audit
from evolake.programs.gates import bare_text
from evolake.programs.settings import ProgramsSettings
from evolake.report.artifacts import LineArtifacts
from evolake.report.numbers import counted
from evolake.settings import Settings

ARTIFACTS = LineArtifacts(
    crowns_none=(
        "it is a study of audits: `FROM audits.verdicts` in SQL has them; `evolake audit PATH --bundle FILE` "
        "bundles one"
    )
)
Row = dict[str, Any]
SHOWN = 10
"""Audits that the report names."""


def verdict_row(
    lake: Lake, request: Request, settings: Settings, run_id: str, log: Callable[[str], None]
) -> tuple[Row, bool]:
    """Return (the row of VERDICTS of a request, whether it was there already).

    An audit is made once for everything that it depends on. Each part is noted as soon as it is done: one
    that was killed continues with the next.

    Raises:
        InputError: the initial program has no score.
    """
    own, key = settings.of(ProgramsSettings), _facts_key(request, settings)
    if (before := _held(lake, request.key)) is not None and before["key"] == key:
        return before, True
    notes = lake.read(LINE, NOTES.name, request.key).to_dicts() if _noted(lake, request) else []
    noted = {row["about"]: row for row in notes if row["key"] == key}
    held = {about: Part.of_json(json.loads(lake.blobs.get(row["part_sha"]))) for about, row in noted.items()}

    def note(part: Part) -> None:
        sha = lake.blobs.put(_bytes(part.to_json()))
        noted[part.about] = {"audit": request.key, "about": part.about, "key": key, "part_sha": sha}
        frame = NOTES.frame(noted.values())
        lake.publish(LINE, NOTES.name, frame, cycle=request.key, run_id=run_id, schema=NOTES)
        log(f"{part.about}: {counted(len(part.findings), 'finding')}")

    began = time.monotonic()
    found = audit(request.asked, request.subject, own, settings, held=held, note=note)
    run = request.subject.run
    best = run.best if run else None
    row = {
        "audit": request.key,
        "path": readable(found.path),
        "project": readable(found.project),
        "tool": run.tool if run else None,
        "mode": found.mode,
        "parts": list(found.parts),
        "verdict": found.verdict,
        "findings": len(found.findings),
        "candidates": len(run.candidates) if run else 0,
        "best_id": short_id(best.program_id) if best else None,
        "best_score": best.score if best else None,
        "figures": canonical_json(found.to_json()["figures"], ascii_only=True),
        "notes": [readable(note) for some in found.notes.values() for note in some],
        "evolake": __version__,
        "seconds": float(request.asked.seconds),
        "wall_s": time.monotonic() - began,
        "key": key,
        "audit_sha": lake.blobs.put(_bytes(found.to_json())),
    }
    return row, False


def _facts_key(request: Request, settings: Settings) -> str:
    """Return what the verdict of a request depends on."""
    own = settings.of(ProgramsSettings)
    facts = {
        "request": request.sha,
        "audit": request.key,
        "version": __version__,
        "seed": settings.seed,
        "jail": settings.jail,
        "limits": own.model_dump(include={"cpu_s", "wall_s", "memory_mb", "processes", "heldout_repeats"}),
    }
    return key_of(facts, ascii_only=True)


def _held(lake: Lake, key: str) -> Row | None:
    """Return the row of VERDICTS of a partition; None if it has none."""
    known = lake.record(LINE, VERDICTS.name, key) is not None
    return lake.read(LINE, VERDICTS.name, key).to_dicts()[0] if known else None


def is_made(lake: Lake, request: Request, settings: Settings) -> bool:
    """Return whether all tables of a request are there, so that nothing is left to do."""
    before = _held(lake, request.key)
    tables = (CANDIDATES, FINDINGS, MEASUREMENTS)
    whole = all(lake.record(LINE, table.name, request.key) is not None for table in tables)
    return whole and before is not None and before["key"] == _facts_key(request, settings)


def _noted(lake: Lake, request: Request) -> bool:
    return lake.record(LINE, NOTES.name, request.key) is not None


def audit_in(lake: Lake, key: str) -> Audit:
    """Return the audit of a partition, as it was made.

    Raises:
        InputError: none was made there.
    """
    row = lake.read(LINE, VERDICTS.name, key).to_dicts()[0]
    return Audit.of_json(json.loads(lake.blobs.get(row["audit_sha"])))


LONGEST_ID = 120


def short_id(program_id: str) -> str:
    """Return a candidate's id as tables hold it: a longer one ends in its hash."""
    plain = readable(program_id)
    return plain if len(plain) <= LONGEST_ID else f"{plain[: LONGEST_ID - 17]}-{key_of(program_id)[:16]}"


def candidate_rows(request: Request) -> list[Row]:
    """Return the rows of CANDIDATES of a request, in the order of birth."""
    run, first = request.subject.run, dict[str, str]()
    name = f"program{run.suffix or '.txt'}" if run else ""
    rows: list[Row] = []
    for item in run.candidates if run else ():
        own = short_id(item.program_id)
        same = first.setdefault(bare_text({name: item.text}), own)
        rows.append(
            {
                "audit": request.key,
                "program_id": own,
                "number": item.number,
                "parents": [short_id(parent) for parent in item.parents],
                "operator": readable(item.operator),
                "score": item.score,
                "metrics": canonical_json(dict(item.metrics), ascii_only=True),
                "text": readable(item.text),
                "same_as": same if same != own else None,
            }
        )
    return rows


def finding_rows(key: str, found: Audit) -> list[Row]:
    """Return the rows of FINDINGS of an audit."""
    return [
        {
            "audit": key,
            "number": number,
            "about": item.about,
            "kind": item.name.partition(":")[0],
            **{
                name: readable(getattr(item, name))
                for name in ("name", "reason", "change", "command", "program")
            },
        }
        for number, item in enumerate(found.findings, 1)
    ]


def measurement_rows(key: str, found: Audit) -> list[Row]:
    """Return the rows of MEASUREMENTS of an audit."""
    places: Counter[tuple[str, str]] = Counter()
    rows: list[Row] = []
    for item in found.scores:
        rows.append({"audit": key, "place": places[item.about, item.side], **vars(item)})
        places[item.about, item.side] += 1
    return rows


def sentences(root: Path) -> list[str]:
    """Return what the report says of the audits of a lake; none if there is none."""
    lake = Lake(root)
    keys = lake.cycles(LINE, VERDICTS.name)
    if not keys:
        return []
    rows = [lake.read(LINE, VERDICTS.name, key).to_dicts()[0] for key in keys]
    bad = [row for row in rows if row["findings"]]
    said = [f"{counted(len(rows), 'audit')}, {len(bad)} with findings."]
    for row in bad[:SHOWN]:
        kinds = lake.read(LINE, FINDINGS.name, row["audit"])["kind"].unique(maintain_order=True).to_list()
        said.append(f"{row['project']} ({row['path']}): {row['verdict']}: {', '.join(kinds)}.")
    if len(bad) > SHOWN:
        said.append(f"{len(bad) - SHOWN} more are in audits.verdicts.")
    return said


def _bytes(value: Any) -> bytes:
    return canonical_json(value, ascii_only=True).encode()
