"""Seals: the small records through which one cycle of a line hands its survivors to the next.

`incoming[n]`, the population that enters cycle n, is sealed by the cycle before it (cycle 1 by the seeds). A
seal names the content version of that population and the version of the seal it was built on, so the seals of
a line form a hash chain. Opening cycle n reopens seal n+1, and a cycle starts only when every link up to it
holds: a failure, a change or a partial re-run anywhere before it stops what is based on it, while a re-run
that ends in the same content breaks nothing.

A seal's file is the one that people look at: JSON with a format number and a check sum, and no other bytes
than those that were written are taken for it. The journal next to it holds every seal that was ever made, in
a log that knows when a line of it is lost (`chained`), and is written first: a file that is older than the
journal, because its writer died in between or because a user put an old one back, is not believed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from evolake.canonical_json import key_of
from evolake.errors import LakeError
from evolake.lake import chained, disk, lake_format
from evolake.lake.chained import VERIFY
from evolake.lake.layout import check_cycle, check_name, line_lock
from evolake.lake.locks import check_lease
from evolake.reading import whole_number

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


def following(cycle: str) -> str:
    """Return the cycle after `cycle`."""
    return f"{int(check_cycle(cycle)) + 1:04d}"


def preceding(cycle: str) -> str | None:
    """Return the cycle before `cycle`; None before the first."""
    number = int(check_cycle(cycle)) - 1
    return f"{number:04d}" if number >= 1 else None


class Seals:
    """The seals of one lake, each replaced atomically.

    Every method that reads raises LakeError where a seal or a line's journal is damaged or cannot be read.
    """

    def __init__(self, root: Path, clock: Callable[[], datetime]):
        self._root, self._clock = root / "seals", clock
        self._locks = root / "locks"
        self._parsed: dict[Path, tuple[tuple[int, int], chained.Log, dict[str, list[Seal]]]] = {}

    def folder(self, line: str) -> Path:
        """Return where the seals of a line are."""
        return self._root / check_name("line", line)

    def path(self, line: str, cycle: str) -> Path:
        """Return where one seal is, or would be."""
        return self.folder(line) / f"{check_cycle(cycle)}.json"

    def read(self, line: str, cycle: str) -> Seal | None:
        """Return the seal of the population that enters `cycle`; None where it is missing."""
        path = self.path(line, cycle)
        with disk.as_lake_error(f"the seal {path} cannot be read", "the population that enters the cycle"):
            while True:
                log, known = self.journal(line)
                data = _bytes(path)
                if log is None or not log.faults:
                    result, why = _judge(data, line, cycle, None if log is None else known.get(cycle, []))
                else:
                    result, why = None, f"the journal next to it is damaged, {log.faults[0]}"
                if why is None:
                    return result
                if self.journal(line)[0] == log and _bytes(path) == data:
                    raise LakeError(
                        f"the seal {path} cannot be believed",
                        wanted="the bytes that were written last",
                        got=why,
                        do=VERIFY,
                    )

    def journal(self, line: str) -> tuple[chained.Log | None, dict[str, list[Seal]]]:
        """Return the line's journal, None where it has none, and what it says: cycle -> seals, oldest
        first."""
        path = journal(self.folder(line))
        try:
            status = path.stat()
        except FileNotFoundError:
            return None, {}
        known = self._parsed.get(path)
        if known is None or known[0] != (status.st_ino, status.st_size):
            data = disk.read(path)
            log = chained.parse(data)
            try:
                known = self._parsed[path] = ((status.st_ino, len(data)), log, history(log.bodies))
            except ValueError as error:
                raise LakeError(
                    f"the journal {path} holds what is no seal", got=str(error), do="restore it from a backup"
                ) from None
        return known[1:]

    def seal(
        self,
        line: str,
        cycle: str,
        version: str,
        built_on: str | None,
        run_id: str,
        tables: Mapping[str, str] | None = None,
    ) -> Seal:
        """Seal the population that enters `cycle`. See `Seal` for the arguments."""
        seal = Seal(
            line, cycle, "sealed", version, built_on, run_id, self._clock().isoformat(), dict(tables or {})
        )
        self._write(seal)
        return seal

    def reopen(self, line: str, cycle: str, run_id: str) -> Seal | None:
        """Unseal `cycle` because the one before it runs again; None if there is nothing to unseal."""
        seal = self.read(line, cycle)
        if seal is None:
            return None
        reopened = replace(seal, state="reopened", run_id=run_id, at=self._clock().isoformat())
        self._write(reopened)
        return reopened

    def _write(self, seal: Seal) -> None:
        path = self.path(seal.line, seal.cycle)
        with disk.as_lake_error(f"the seal {path} cannot be written", "to record what enters the cycle"):
            lake_format.mark(self._root.parent)
            log, _ = self.journal(seal.line)
            if log and log.faults:
                raise LakeError(
                    f"the journal of the seals of {seal.line} is damaged", got=str(log.faults[0]), do=VERIFY
                )
            check_lease(line_lock(self._root.parent, seal.line))
            self.note(seal.line, [entry(seal)])
            disk.write_atomic(path, encode(seal), tag=str(os.getpid()))

    def note(self, line: str, bodies: list[dict[str, Any]]) -> None:
        """Add lines to the line's journal, durably."""
        path, lock = journal(self.folder(line)), self._locks / line / "_seals.lock"
        chained.append(path, lock, bodies, lambda: self.journal(line)[0] or chained.Log())

    def cycles(self, line: str) -> list[str]:
        """Return the cycles that have a seal, in order."""
        folder = self.folder(line)
        with disk.as_lake_error(f"the seals of {line} cannot be listed", f"to read {folder}"):
            names = disk.names(folder)
            sealed = {
                name[:-5] for name in names if name.endswith(".json") and whole_number(name[:-5]) is not None
            }
            return sorted(sealed | set(self.journal(line)[1]))

    def lines(self) -> list[str]:
        """Return the lines that have a seal, in order."""
        with disk.as_lake_error("the seals of the lake cannot be listed", f"to read {self._root}"):
            return sorted(name for name in disk.names(self._root) if (self._root / name).is_dir())

    def broken_link(self, line: str, cycle: str) -> tuple[str, str] | None:
        """Return (cycle, why) of the first population up to `cycle` that is not sealed on the one before it;
        None where the chain holds."""
        return self._broken_link(line, int(check_cycle(cycle)))

    def whole_up_to(self, line: str) -> int:
        """Return the number of the newest cycle whose population is sealed on an unbroken chain; 0 if there
        is none. One pass for all cycles."""
        newest = max(map(int, self.cycles(line)), default=0)
        broken = self._broken_link(line, newest)
        return int(broken[0]) - 1 if broken else newest

    def chain(self, line: str) -> tuple[dict[str, Seal | None], tuple[str, str] | None]:
        """Return (cycle -> its seal, the first broken link as `broken_link` describes it); each seal is read
        once."""
        seals = {cycle: self.read(line, cycle) for cycle in self.cycles(line)}
        return seals, _broken(seals.get, max(map(int, seals), default=0))

    def _broken_link(self, line: str, last: int) -> tuple[str, str] | None:
        return _broken(lambda cycle: self.read(line, cycle), last)


def _broken(seal_of: Callable[[str], Seal | None], last: int) -> tuple[str, str] | None:
    before = None
    for number in range(1, last + 1):
        at = f"{number:04d}"
        seal = seal_of(at)
        if seal is None:
            return at, "missing"
        if seal.state != "sealed":
            return at, seal.state
        if seal.built_on != before:
            return at, "built on an older population"
        before = seal.version
    return None


def _bytes(path: Path) -> bytes | None:
    try:
        return disk.read(path)
    except FileNotFoundError:
        return None


def _judge(
    data: bytes | None, line: str, cycle: str, known: list[Seal] | None
) -> tuple[Seal | None, str | None]:
    """Return (the seal to believe, None), or (None, what is wrong). known: what the journal says of the
    cycle; None if there is no journal."""
    try:
        seal = decode(data, line, cycle) if data is not None else None
    except ValueError as error:
        return None, str(error)
    if known is None:
        return (None, "a line of seals without its journal") if seal else (None, None)
    if seal is None or seal in known[-2:]:
        return (known[-1] if known else None), None  # a writer appends to the journal, then replaces the file
    return None, f"a seal of {seal.at} that is not the journal's last"


def explain_broken(line: str, cycle: str, at: str, why: str) -> str:
    """Return the sentence for the user who starts `cycle` while the link `at` is broken: what is wrong and
    the backfill that repairs it."""
    before = preceding(at)
    redo = f"cycle {before}" if before else "the seeds"
    return (
        f"{line}: cycle {cycle} cannot start: the population that enters cycle {at} is {why}. "
        f"Materialize the whole group from {redo} on, in one backfill."
    )
