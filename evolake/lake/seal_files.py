"""A seal as it is on the disk, and the journal of a line's seals.

A seal's file is the one that people look at: JSON with a format number and a check sum, and no other bytes
than those that were written are taken for it. The journal next to it holds every seal that was ever made, in
a log that knows when a line of it is lost (`chained`), and is written first: a file that is older than the
journal, because its writer died in between or because a user put an old one back, is not believed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from evolake.canonical_json import key_of

FORMAT = 2
JOURNAL = "_journal.jsonl"


@dataclass(frozen=True)
class Seal:
    """The seal of the population that enters one cycle.

    Attributes:
        state: sealed, or reopened because the cycle before runs again.
        version: content version of the population.
        built_on: version of the seal before it; None for the first.
        run_id: the run that sealed or reopened it. at: when, ISO 8601 in UTC.
        tables: asset name -> content_sha of the lake parts that are the population. The part's cycle is the
            seal's own; `name@0001` names another.
    """

    line: str
    cycle: str
    state: Literal["sealed", "reopened"]
    version: str
    built_on: str | None
    run_id: str
    at: str
    tables: Mapping[str, str] = field(default_factory=dict)


_TEXTS = ("line", "cycle", "version", "run_id", "at")


def population_version(hashes: Mapping[str, str]) -> str:
    """Return content version of a population: sha256 of its tables' names and content hashes."""
    return key_of(dict(hashes), ascii_only=True)


def encode(seal: Seal) -> bytes:
    """Return the bytes of a seal's file."""
    body = {**vars(seal), "format": FORMAT}
    return (json.dumps({**body, "check": _check(body)}, sort_keys=True, indent=1) + "\n").encode()


def _check(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def decode(data: bytes, line: str, cycle: str) -> Seal:
    """Return the seal in a file's bytes.

    Raises:
        ValueError: these are not, byte for byte, the bytes of a seal of that line and cycle; says why.
    """
    try:
        body = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(str(error)) from None
    if not isinstance(body, dict):
        raise ValueError("no JSON object")
    if body.get("format") != FORMAT:
        raise ValueError(f"format {body.get('format')!r}: this evolake reads format {FORMAT}")
    seal = from_body({name: value for name, value in body.items() if name not in ("format", "check")})
    if data != encode(seal):
        raise ValueError("its check sum does not fit")
    if (seal.line, seal.cycle) != (line, cycle):
        raise ValueError(f"it is the seal of {seal.line}, cycle {seal.cycle}")
    return seal


def from_body(body: Mapping[str, Any]) -> Seal:
    """Return a seal from its fields. Raises ValueError where one is missing, is not known or has another
    type."""
    try:
        seal = Seal(**body)
    except TypeError as error:
        raise ValueError(str(error)) from None
    right = all(isinstance(getattr(seal, name), str) for name in _TEXTS) and isinstance(
        seal.built_on, str | None
    )
    if not right or seal.state not in ("sealed", "reopened") or not isinstance(seal.tables, dict):
        raise ValueError("a field has the wrong type")
    if not all(isinstance(sha, str) for sha in seal.tables.values()):
        raise ValueError("a table without a hash")
    return seal


def journal(folder: Path) -> Path:
    """Return where the journal of the line is whose seals are in `folder`."""
    return folder / JOURNAL


def entry(seal: Seal) -> dict[str, Any]:
    """Return the journal's line for a seal."""
    return {"event": "seal", **vars(seal)}


def history(bodies: tuple[dict[str, Any], ...]) -> dict[str, list[Seal]]:
    """Return cycle -> its seals, oldest first, of a journal's lines."""
    result: dict[str, list[Seal]] = {}
    for body in bodies:
        if body.get("event") == "seal":
            seal = from_body({name: value for name, value in body.items() if name != "event"})
            result.setdefault(seal.cycle, []).append(seal)
    return result
