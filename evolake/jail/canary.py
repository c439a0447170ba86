"""Try the lock before trusting it: every jail, when it starts, runs a trusted candidate that attempts what
must be refused.

If one attempt succeeds, the jail is not used and evolake refuses to run generated code (JailUnavailable).
`probe` runs inside.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evolake.errors import JailUnavailable
from evolake.jail import identity
from evolake.jail.backends import Backend
from evolake.jail.inside import namespaces
from evolake.jail.protocol import Call, Limits, Outcome
from evolake.scratch import Scratch

DRIVER = "evolake.jail.canary:probe"
FIRST_NUMBERS = [2, 3, 4]
"""Of a candidate's process and of the threads that it makes: process 1 holds the namespace."""
ATTEMPTS = {
    "read a secret of the host": "secrets",
    "see the caller's environment": "environment",
    "open a socket": "network",
    "write a file outside": "writes",
    "fork": "processes",
    "execute a program": "processes",
    "signal its parent": "parent",
    "open its parent's descriptors": "parent",
    "read its parent's environment": "parent",
    "set the clock": "clock",
    "change a device": "writes",
    "be root of the host": "devices",
    "lock a file of the host": "leftovers",
    "see its parent's process number": "counters",
    "have a number of the jail's counter": "counters",
    "look into /proc": "counters",
    "make a pipe": "counters",
    "ask for the load of the machine": "counters",
}
"""What `probe` attempts -> the guarantee that it would break."""


def prove(backend: Backend, run: Callable[[Call], Outcome]) -> list[tuple[str, bool, str]]:
    """Run the canary by `run` and return (attempt, held, detail) for each. Raises JailUnavailable when a
    guarantee of `backend` is broken."""
    with Scratch("canary") as folder:
        secret = secrets.token_hex(16)
        path = Path(folder) / "secret"
        path.write_text(secret)
        only_root = (
            os.geteuid() == 0 and identity.drawn() is None
        )  # root of a namespace that knows nobody else
        details = {
            "secret": str(path),
            "folder": folder,
            "variables": sorted(os.environ),
            "only_root": only_root,
        }
        outcome = run(Call(DRIVER, "", details, Limits(cpu_s=20, wall_s=30)))
        changed = (
            sorted(entry.name for entry in Path(folder).iterdir()) != ["secret"] or path.read_text() != secret
        )
    if outcome.status != "ok":
        raise JailUnavailable(
            "the jail's canary could not run",
            got=f"{outcome.status}: {outcome.reason}",
            do="run `evolake doctor`",
        )
    results: dict[str, str | None] = outcome.value
    if changed:
        results["write a file outside"] = None
    rows = [
        (attempt, results[attempt] is not None, results[attempt] or "it succeeded") for attempt in ATTEMPTS
    ]
    broken = [
        attempt for attempt, held, _ in rows if not held and ATTEMPTS[attempt] in backend.python_guarantees
    ]
    if broken:
        raise JailUnavailable(
            f"the jail ({backend.mode}) does not hold, so generated code is not run",
            wanted="its canary refused everywhere",
            got=f"it could {', '.join(broken)}",
            do="run `evolake doctor` and report this with its output",
        )
    return [row for row in rows if ATTEMPTS[row[0]] in backend.python_guarantees]


def probe(source: str, payload: dict[str, Any]) -> dict[str, str | None]:
    """Inside the jail: each attempt of ATTEMPTS -> why it was refused, or None where it succeeded."""
    parent = os.getppid()

    def environment() -> None:
        allowed = {"PATH", "HOME", "USER", "LANG", "TZ", "LC_CTYPE", "PWD"}
        seen = Path("/proc/1/environ").read_bytes()
        leaked = [
            name for name in payload["variables"] if name not in allowed and f"{name}=".encode() in seen
        ]
        if not leaked:
            raise PermissionError("nothing of it is visible")

    def descriptors() -> None:
        for link in Path(
            f"/proc/{parent}/fd"
        ).iterdir():  # root's jail may list them, and still must not open or resolve one
            if (
                refusal(link.readlink) is None
                or refusal(lambda link=link: os.open(link, os.O_RDONLY | os.O_NONBLOCK)) is None
            ):
                return
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    def fork() -> None:
        if os.fork() == 0:
            os._exit(0)

    def device() -> None:
        null = Path(os.devnull)
        null.chmod(null.stat().st_mode & 0o7777)

    def root() -> None:
        outside = [first for _, first, _ in namespaces.noted_users()]
        if payload["only_root"] or (os.getuid() != 0 and 0 not in outside):
            raise PermissionError("it is another user")

    def own_parent() -> None:
        if parent == 0:
            raise ProcessLookupError("it is in another namespace")

    def number() -> None:
        numbers: list[int] = [os.getpid()]
        for _ in range(2):
            thread = threading.Thread(target=lambda: numbers.append(threading.get_native_id()))
            thread.start()
            thread.join()
        if numbers == FIRST_NUMBERS:
            raise ProcessLookupError("its numbers are the first ones")

    def load() -> None:
        if ctypes.CDLL(None, use_errno=True).sysinfo(ctypes.create_string_buffer(256)) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    attempts: dict[str, Callable[[], Any]] = {
        "read a secret of the host": lambda: Path(payload["secret"]).read_text(),
        "see the caller's environment": environment,
        "open a socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close(),
        "write a file outside": lambda: Path(payload["folder"], "written").write_text("x"),
        "fork": fork,
        "execute a program": lambda: os.execv("/bin/true", ["true"]),
        "signal its parent": lambda: os.kill(parent, 0),
        "open its parent's descriptors": descriptors,
        "read its parent's environment": lambda: Path(f"/proc/{parent}/environ").read_bytes(),
        "set the clock": lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()),
        "change a device": device,
        "be root of the host": root,
        "see its parent's process number": own_parent,
        "have a number of the jail's counter": number,
        "look into /proc": lambda: list(Path("/proc").iterdir()),
        "make a pipe": os.pipe,
        "ask for the load of the machine": load,
        "lock a file of the host": lambda: fcntl.flock(
            os.open(os.__file__, os.O_RDONLY), fcntl.LOCK_SH | fcntl.LOCK_NB
        ),
    }
    return {name: refusal(attempt) for name, attempt in attempts.items()}


def refusal(attempt: Callable[[], Any]) -> str | None:
    """Return the error that `attempt` ends in, or None when it succeeds."""
    try:
        attempt()
    except OSError as error:
        return error.strerror or str(error)
    return None
