"""The conformance kit: attempts to escape or to exhaust, which every backend must contain as far as it claims
to.

Each attack names the guarantee that it tries to break; a backend is held to those that it declares
(`python_guarantees`), and with native programs to `NATIVE_GUARANTEES`. An attack is contained when its
outcome has one of the expected statuses, the host shows no trace, nothing of the host shows up in what came
back, and an innocent candidate that runs next gets its right answer.

Every attack is bounded by construction (so many processes, threads, bytes; signal 0 where it aims at
everything; the clock set to now): a jail that fails the kit must not take the machine with it.
"""

import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.jail.backends import GUARANTEES
from evolake.jail.native import NativeRun, run_native
from evolake.jail.pool import Pool
from evolake.jail.protocol import GENERIC_DRIVER, JailMode, Limits, NativeOutcome, Outcome, Status

NATIVE_GUARANTEES: dict[JailMode, frozenset[str]] = {
    "bubblewrap": GUARANTEES,
    "rlimits": GUARANTEES
    - {"secrets", "environment", "host-processes", "devices", "counters", "writes", "leftovers", "programs"},
}
ATTACK_LIMITS = Limits(cpu_s=1, wall_s=30, memory_mb=256, file_mb=1, output_bytes=200_000, open_files=32)

INNOCENT = """
import json, math, os, random

def innocent(numbers):
    places = [place for place in ("/tmp", "/var/tmp", "/dev/shm", os.getcwd()) if os.path.isdir(place)]
    left = sorted(name for place in places for name in os.listdir(place) if name.startswith("evolake-left"))
    return {"sum": math.fsum(numbers), "text": json.dumps(numbers), "left": left}
"""
INNOCENT_ANSWER = {"sum": 6.0, "text": "[1, 2, 3]", "left": []}
GRACE_S = 5.0
COUNTS = (0, 50, 100)
"""Steps that an attack on a counter takes before another candidate reads it."""


@dataclass(frozen=True)
class Witness:
    """What an attack may aim at on the host, and what tells that it was hit."""

    folder: Path
    secret: str
    variable: str
    port: int
    abstract: str
    connections: list[Any]
    clock_offset: float
    devices: dict[str, tuple[int, ...]]

    @property
    def payload(self) -> dict[str, Any]:
        """What the attacker is told: everything but the secret itself."""
        return {
            "secret": str(self.folder / "secret"),
            "folder": str(self.folder),
            "port": self.port,
            "host": os.getpid(),
        }

    def traces(self) -> list[str]:
        """What an attack has changed on the host."""
        result = []
        if sorted(entry.name for entry in self.folder.iterdir()) != ["secret"]:
            result.append("it wrote beside the secret")
        if (self.folder / "secret").read_text() != self.secret:
            result.append("it changed the secret")
        if self.connections:
            result.append("it reached a server on loopback, or of abstract name")
        if abs(time.time() - time.monotonic() - self.clock_offset) > 30:
            result.append("it set the clock")
        result += [
            f"it changed {path}" for path, before in self.devices.items() if device_status(path) != before
        ]
        if not died_out():
            result.append("a process of it outlived it")
        return result


def device_status(path: str) -> tuple[int, ...]:
    """What of a device of the host must stay: mode, owner, group, time of change."""
    status = Path(path).stat()
    return status.st_mode, status.st_uid, status.st_gid, status.st_mtime_ns


LASTING_PROCESS = "86399.5"
"""How long an attack's lasting process sleeps: the mark it is found by."""


def died_out() -> bool:
    """True once no process of an attack is left. A killed process is seen until the kernel has taken it down:
    it gets `GRACE_S` for that."""
    until = time.monotonic() + GRACE_S
    while any(marked(process) for process in Path("/proc").iterdir()):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def marked(process: Path) -> bool:
    """Whether the entry of /proc is an attack's lasting process."""
    try:
        return LASTING_PROCESS.encode() in (process / "cmdline").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return False


@contextmanager
def witness(folder: Path) -> Iterator[Witness]:
    """A secret in `folder`, another in the environment, a server on loopback. Open it before the jails, so
    that they could inherit all of it."""
    secret = secrets.token_hex(16)
    (folder / "secret").write_text(secret)
    variable = f"EVOLAKE_WITNESS_{secrets.token_hex(4).upper()}"
    os.environ[variable] = secret
    connections: list[Any] = []
    abstract = f"evolake-witness-{secret[:8]}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as named:
        named.bind(f"\0{abstract}")
        named.listen()
        for opened in (server, named):
            threading.Thread(target=_accept, args=(opened, connections), daemon=True).start()
        try:
            yield Witness(
                folder,
                secret,
                variable,
                server.getsockname()[1],
                abstract,
                connections,
                time.time() - time.monotonic(),
                {path: device_status(path) for path in ("/dev/null", "/dev/zero", "/dev/urandom")},
            )
        finally:
            del os.environ[variable]
            server.shutdown(socket.SHUT_RDWR)
            named.shutdown(socket.SHUT_RDWR)


def _accept(server: socket.socket, connections: list[Any]) -> None:
    while True:
        try:
            connections.append(server.accept()[1])
        except OSError:  # the witness is closed
            return


@dataclass(frozen=True)
class PythonAttack:
    """source defines `attack(host)`, called with Witness.payload. bad: says what is wrong with the outcome
    beyond its status, or None."""

    name: str
    guarantee: str
    statuses: tuple[Status, ...]
    source: str
    limits: Limits = ATTACK_LIMITS
    bad: Callable[[Outcome], str | None] = lambda outcome: None

    def violations(self, pool: Pool, host: Witness) -> list[str]:
        """Run it and then an innocent candidate; what was not contained, empty when all was."""
        outcome = pool.call(
            GENERIC_DRIVER, self.source, {"function": "attack", "args": [host.payload]}, self.limits
        )
        result = _common(outcome.status, self.statuses, outcome.reason, outcome.jail, pool.jail)
        if host.secret in f"{outcome.value!r}{outcome.reason}{outcome.stdout}{outcome.stderr}":
            result.append("the secret came back")
        result += [complaint] if (complaint := self.bad(outcome)) else []
        return result + host.traces() + next_candidate(pool)


@dataclass(frozen=True)
class CounterAttack:
    """source defines `advance(count)` and `read()`. Contained if each candidate reads the same, or is
    refused, whatever was done before it."""

    name: str
    source: str
    guarantee: str = "counters"

    def violations(self, pool: Pool, host: Witness) -> list[str]:
        """Read by one candidate after others that advanced by different counts; what was not contained, empty
        when all was."""
        seen = []
        for count in COUNTS:
            pool.call(GENERIC_DRIVER, self.source, {"function": "advance", "args": [count]}, ATTACK_LIMITS)
            outcome = pool.call(GENERIC_DRIVER, self.source, {"function": "read"}, ATTACK_LIMITS)
            if outcome.status not in ("ok", "error", "forbidden"):
                return [f"status {outcome.status} ({outcome.reason})"]
            seen.append(outcome.value)
        result = (
            []
            if all(value == seen[0] for value in seen)
            else [f"after {COUNTS} steps the next candidate read {seen}"]
        )
        return result + host.traces() + next_candidate(pool)


NativeRunner = Callable[..., NativeOutcome]
"""(run, *, limits, mode) -> outcome, as `run_native`."""


@dataclass(frozen=True)
class NativeAttack:
    """script is run by /bin/sh with the witness's secret file, folder and port as $1, $2 and $3; outputs are
    asked for."""

    name: str
    guarantee: str
    statuses: tuple[Status, ...]
    script: str
    limits: Limits = ATTACK_LIMITS
    outputs: tuple[str, ...] = ()
    bad: Callable[[NativeOutcome], str | None] = lambda outcome: None

    def violations(self, mode: JailMode, host: Witness, run: NativeRunner = run_native) -> list[str]:
        """Run it by `run`; what was not contained, empty when all was."""
        argv = [
            "/bin/sh",
            "-c",
            self.script,
            "attack",
            str(host.folder / "secret"),
            str(host.folder),
            str(host.port),
        ]
        outcome = run(NativeRun(argv, outputs=self.outputs), limits=self.limits, mode=mode)
        result = _common(outcome.status, self.statuses, outcome.reason, outcome.jail, mode)
        if host.secret.encode() in outcome.stdout + outcome.stderr + b"".join(outcome.outputs.values()):
            result.append("the secret came back")
        result += [complaint] if (complaint := self.bad(outcome)) else []
        return result + host.traces()


def next_candidate(pool: Pool) -> list[str]:
    """Run the innocent candidate on every worker; what is wrong with its answers."""
    result = []
    for _ in range(pool.workers):
        outcome = pool.call(GENERIC_DRIVER, INNOCENT, {"function": "innocent", "args": [[1, 2, 3]]})
        if (outcome.status, outcome.value) != ("ok", INNOCENT_ANSWER):
            result.append(f"the next candidate got {outcome.status}: {outcome.value or outcome.reason}")
    return result


def _common(
    status: Status, wanted: tuple[Status, ...], reason: str, said: JailMode, mode: JailMode
) -> list[str]:
    result = [] if status in wanted else [f"status {status} ({reason}), wanted {' or '.join(wanted)}"]
    return result if said == mode else [*result, f"the outcome says jail {said}, it ran in {mode}"]
