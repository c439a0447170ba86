"""A log of JSON lines, appended only, that knows when a line of it was lost, changed, repeated or moved.

Each line ends in a check sum over itself. It also says which line of the log it is and what the chain of the
check sums before it comes to, so a line that is gone, edited or in another place breaks the chain at the next
one. A writer that is killed leaves at most an unfinished line: each line starts with its own newline as well,
so what was torn stays apart from what follows, which counts on as if it had never been begun.

A break that has been looked at is acknowledged by one more line (`mended`), never by rewriting the log.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from evolake.errors import PartitionBusy
from evolake.lake import disk

MENDED = "mended"
_SIGNED = re.compile(rb'(\{.*), "check": "([0-9a-f]{16})"\}', re.DOTALL)
APPEND_TIMEOUT_S = 30.0
VERIFY = "run `evolake lake verify --repair`: it says what is damaged and repairs what it can"


@dataclass(frozen=True)
class Fault:
    """Where a log is not what was written. at: the line in the file, from 1. name: what `mended` acknowledges
    it by."""

    at: int
    name: str
    wanted: str
    got: str

    def __str__(self) -> str:
        return f"line {self.at}: wanted {self.wanted}, got {self.got}"


@dataclass(frozen=True)
class Log:
    """What a log says.

    Attributes:
        bodies: the whole lines, in order, less their numbers; those after its checkpoint, where it was read
            from one.
        faults: what is broken and not acknowledged; empty where the log can be trusted.
        no, chain: where the next line continues.
    """

    bodies: tuple[dict[str, Any], ...] = ()
    faults: tuple[Fault, ...] = ()
    no: int = 0
    chain: str = ""


def encode(body: Mapping[str, Any], no: int, chain: str) -> tuple[bytes, str]:
    """Return the bytes of line number `no` after a log whose chain comes to `chain`, and what it comes to
    then."""
    text = json.dumps({**body, "no": no, "chain": chain}, ensure_ascii=False)
    check = _check(text)
    return b"\n" + _signed(text, check) + b"\n", link(chain, check)


def signed(body: Mapping[str, Any]) -> bytes:
    """Return one line with a check sum, outside of any log."""
    text = json.dumps(body, ensure_ascii=False)
    return _signed(text, _check(text))


def unsigned(line: bytes) -> dict[str, Any] | None:
    """Return the object on one line, less its check sum; None where it is not, byte for byte, what was
    written."""
    signed = _SIGNED.fullmatch(line)
    if signed is None or hashlib.sha256(signed[1] + b"}").hexdigest()[:16].encode() != signed[2]:
        return None
    try:
        body = json.loads(signed[1] + b"}")
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def link(chain: str, check: str) -> str:
    """Return what the chain comes to after one more line."""
    return hashlib.sha256(f"{chain}{check}".encode()).hexdigest()[:16]


def _check(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _signed(text: str, check: str) -> bytes:
    return f'{text[:-1]}, "check": "{check}"}}'.encode("utf-8", "surrogatepass")


@dataclass
class _Reading:
    no: int = 0
    chain: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    faults: dict[str, Fault] = field(default_factory=dict)
    doubtful: list[Fault] = field(
        default_factory=list
    )  # damaged lines; the next numbered line says whether they counted


def parse(data: bytes, before: Log | None = None, lines_before: int = 0) -> Log:
    """Return what the bytes of a log say; never raises. before: what its first lines say, which end whole and
    without a fault; `data` are the rest then.
    """
    lines = data.split(b"\n")
    reading = _Reading()
    if before is not None:
        reading = _Reading(before.no, before.chain, list(before.bodies))
    for at, line in enumerate(lines, start=1 + lines_before):
        if not line:
            continue
        body = unsigned(line)
        if body is None:
            if at - lines_before < len(lines) and _was_whole(line):
                name = f"damaged:{hashlib.sha256(line).hexdigest()[:16]}"
                reading.doubtful.append(
                    Fault(at, name, "a whole line with its check sum", f"{len(line)} bytes that fail it")
                )
        else:
            _take(reading, at, line, body)
    faults = {**reading.faults, **{fault.name: fault for fault in reading.doubtful}}
    for body in reading.bodies:
        if body.get("event") == MENDED:
            for name in body["faults"]:
                faults.pop(name, None)
    return Log(tuple(reading.bodies), tuple(faults.values()), reading.no, reading.chain)


def _take(reading: _Reading, at: int, line: bytes, body: dict[str, Any]) -> None:
    check = line[-18:-2].decode()
    no, chain = body.pop("no", None), body.pop("chain", None)
    wanted = f"line number {reading.no + 1} of the log"
    if no is None:
        name = f"unnumbered:{check}"
        reading.faults[name] = Fault(at, name, wanted, "a line without a number")
        no, chain = reading.no + 1, reading.chain
    elif (no, chain) == (reading.no + 1, reading.chain):
        reading.doubtful.clear()
    else:
        name = f"break:{check}:{reading.no + 1}:{reading.chain}"
        got = (
            f"number {no}"
            if no != reading.no + 1
            else f"number {no} of another log, or after another line {reading.no}"
        )
        reading.faults[name] = Fault(at, name, wanted, got)
    reading.no, reading.chain = no, link(chain, check)
    reading.bodies.append(body)


def _was_whole(line: bytes) -> bool:
    """Return whether a line that fails its check was once whole: a torn one ends before the brace that closes
    it."""
    return line.endswith(b"}") and line.count(b"{") <= line.count(b"}")


def append(path: Path, lock: Path, bodies: Sequence[Mapping[str, Any]], look: Callable[[], Log]) -> None:
    """Add lines to a log, durably and one writer at a time. A writer that must not continue after a break
    looks at the log before.

    Args:
        look: gives the log as it is now; called while the lock is held.

    Raises:
        PartitionBusy: another writer has held the log for half a minute.
    """
    disk.make_folder(lock.parent)
    disk.make_folder(path.parent)
    try:
        with FileLock(lock, timeout=APPEND_TIMEOUT_S, thread_local=False, fallback_to_soft=False):
            log = look()
            no, chain, data = log.no, log.chain, b""
            for body in bodies:
                no += 1
                line, chain = encode(body, no, chain)
                data += line
            disk.append(path, data)
    except Timeout:
        raise PartitionBusy(
            f"the log {path} is busy",
            got=f"its lock {lock} was held for {APPEND_TIMEOUT_S:g} s",
            do="run again",
        ) from None
