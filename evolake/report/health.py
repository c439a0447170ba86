"""The health of a lake: the audit of its tables, blobs and seals, with the call cache and the fetched
sources, which have their own ways to be checked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from evolake.agents.call_cache import CallCache, is_key
from evolake.agents.session import SessionRecords
from evolake.errors import EvolakeError, LakeError
from evolake.lake import Lake, disk
from evolake.lake.audit import Audit, Finding, audit, files, repair

VERIFY = "evolake lake verify"


def examine(root: Path, *, fast: bool = False) -> Audit:
    """Return everything in the lake that is not as it should be. `fast`: without reading the bytes of parts,
    blobs and the call cache. Raises what `Lake` raises."""
    return Audit(tuple(audit(_opened(root), fast=fast, more=(call_cache, fetched))))


def mend(root: Path) -> Audit:
    """Repair what provably can be repaired, and return what was done and what is left."""
    return repair(_opened(root), more=(call_cache, fetched))


def _opened(root: Path) -> Lake:
    """Return the lake; one whose marker is damaged, too: that is a finding."""
    try:
        return Lake(root)
    except LakeError:
        return Lake(root, checked=False)


def summary(result: Audit) -> str | None:
    """Return one line on what was found, with the command that shows more; None if nothing was."""
    real = [finding for finding in result.findings if not finding.note]
    if not real:
        return None
    more = f" and {len(real) - 1} more" if len(real) > 1 else ""
    return (
        f"{real[0].what}{more}; run: {VERIFY}{' --repair' if any(finding.repair for finding in real) else ''}"
    )


def call_cache(lake: Lake, fast: bool) -> Iterator[Finding]:
    """Yield findings of the call cache: each entry, and each record next to a session, holds what was written
    under the name that it is filed under."""
    if fast:
        return
    root = lake.root / "tape"
    entries = CallCache(root)
    for path in files(root):
        steps = path.relative_to(root).parts
        if steps[0] == "locks" or path.name.startswith(".tmp-"):
            continue
        where = f"tape/{'/'.join(steps)}"
        if steps[0] == "accounts":
            yield from _account(entries, path, where)
        elif steps[0] == "sessions":
            if summary := SessionRecords(root).damage(path):
                mends = "restore it from a backup, or remove it: the command is run again"
                yield Finding(
                    "tape",
                    f"a record of a session is damaged: {summary}",
                    where,
                    "the bytes that were written",
                    "others",
                    mends,
                )
        elif len(steps) != 2 or path.suffix != ".json" or not is_key(steps[0] + path.stem):
            wanted = "two digits, a folder, the rest of a key"
            yield Finding(
                "tape",
                "a file in the call cache has no entry's name",
                where,
                wanted,
                path.name,
                "move it away",
            )
        elif summary := _damage(entries, steps[0] + path.stem):
            yield Finding(
                "tape",
                summary.what,
                where,
                "the bytes that were written",
                "others",
                summary.do or "restore the file from a backup",
            )


def _damage(entries: CallCache, key: str) -> EvolakeError | None:
    try:
        entries.read(key)
    except EvolakeError as error:
        return error
    return None


def _account(entries: CallCache, path: Path, where: str) -> Iterator[Finding]:
    """Lines of what was spent have no check sum: each must be one, and what it says of a call that is in the
    call cache is held to the call cache."""
    lines = disk.read(path).split(b"\n")
    for at, line in enumerate(
        lines[:-1], start=1
    ):  # after the last newline there is nothing, or what a dying writer left unfinished
        if not line:
            continue
        try:
            spent = json.loads(line)
            key, tokens = str(spent["key"]), int(spent["tokens"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            what = f"a line of what was spent is damaged at line {at}"
            yield Finding("tape", what, where, "one JSON object", str(error), "restore it from a backup")
            continue
        entry = entries.read(key) if is_key(key) and not _damage(entries, key) else None
        if entry is not None and entry.charged_tokens != tokens:
            what = f"line {at} of what was spent is not what the call cache has"
            mends = "nothing, if the call was lost once and charged by estimate"
            yield Finding(
                "tape", what, where, f"{entry.charged_tokens} tokens", f"{tokens} tokens", mends, note=True
            )


def fetched(lake: Lake, fast: bool) -> Iterator[Finding]:
    """Yield findings of the records of fetched sources: each can be read and its archive is there. Their pins
    are held to at every use."""
    root = lake.root / "fetched"
    for path in files(root):
        if path.suffix != ".json" or path.name.startswith(".tmp-"):
            continue
        where = f"fetched/{path.relative_to(root).as_posix()}"
        try:
            sha = json.loads(disk.read(path))["sha256"]
            there = lake.blobs.path(sha).exists()
        except (EvolakeError, ValueError, KeyError, TypeError, OSError) as error:
            what, mends = "the record of a fetched source is damaged", "remove it: it is fetched again"
            yield Finding("fetched", what, where, "a JSON object with a sha256", str(error), mends)
            continue
        if not there:
            what, mends = (
                "the archive of a fetched source is gone",
                "nothing: it is fetched again when needed",
            )
            yield Finding("fetched", what, where, f"the blob {sha}", "no file", mends, note=True)
