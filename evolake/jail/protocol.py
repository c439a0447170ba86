"""The vocabulary of the jail: what a caller asks for, and what can come of it.

That a candidate failed is a value with a typed status. That the jail failed is a JailUnavailable exception.
The two are never mixed.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, get_args

from evolake.errors import InputError

if TYPE_CHECKING:
    from evolake.jail.waiting import Waiting

JailMode = Literal["bubblewrap", "rlimits"]
JAIL_MODES: tuple[JailMode, ...] = get_args(JailMode)

Status = Literal["ok", "error", "timeout", "cpu", "memory", "output", "killed", "forbidden", "protocol"]
"""ok: it ended by itself and replied. error: it raised. timeout: past the wall clock. cpu, memory: past that
limit. output: it wrote too much. killed: it died by a signal. forbidden: a refused system call or file ended
it, or it made too many threads or processes. protocol: it ended without one well-formed reply."""

GENERIC_DRIVER = "evolake.jail.drivers:call_function"


LOWEST = {
    "cpu_s": 0.001,
    "wall_s": 0.001,
    "memory_mb": 1,
    "file_mb": 0,
    "output_bytes": 1,
    "open_files": 8,
    "processes": 0,
    "total_mb": 1,
    "stretch": 1,
}
STRETCH = 4.0
"""Default of `Limits.stretch`."""


@dataclass(frozen=True)
class Limits:
    """What one candidate may use.

    cpu_s: seconds of processor time of one process, all its threads together, by its account at the end; the
    kernel ends it some time later (see `inside.kernel.limit_values`). wall_s: seconds of the supervisor's
    clock, without those in which the run waited for a processor or a disk (see `waiting`). stretch: how many
    times `wall_s` the run may last with these. `run_direct` does not stretch its limit. memory_mb: MiB of
    address space beyond what the jail itself had mapped before the candidate's first line. file_mb: MiB of
    one written file (native programs; a Python candidate cannot write files). output_bytes: cap of the reply,
    and of standard output and of standard error, each. open_files: file descriptors. total_mb: MiB of memory
    that a native program, its processes and the files in its folder hold together; None means memory_mb, and
    a program that may make no processes has no other limit than that. The kernel holds it if there are
    control groups (see `groups`), and everywhere the watch. processes: further processes that a native
    program may have at one time; a Python candidate may have none, whatever this says.
    """

    cpu_s: float = 5.0
    wall_s: float = 10.0
    memory_mb: int = 2048
    file_mb: int = 16
    output_bytes: int = 1_000_000
    open_files: int = 64
    processes: int = 0
    total_mb: int | None = None
    stretch: float = STRETCH

    def __post_init__(self) -> None:
        for name, lowest in LOWEST.items():
            value = getattr(self, name)
            if name == "total_mb" and value is None:
                continue
            if not value >= lowest or value == float("inf"):
                raise InputError(
                    f"limit {name} cannot be used",
                    wanted=f"a finite number of at least {lowest}",
                    got=repr(value),
                )

    @property
    def most_mb(self) -> int:
        """total_mb, or what replaces it."""
        return self.total_mb or self.memory_mb

    def to_json(self) -> dict[str, Any]:
        """Return the limits as JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class Call:
    """One candidate to run: `driver` ("package.module:function", trusted, part of evolake) is called as
    `driver(source, payload)` in the jail.

    channel: descriptors, the caller's to close, that it gets as CHANNEL_OF_CANDIDATE: to read from and to
    write to another jail's process. Such a call is not tried again if the jail dies. until: the call is
    stopped when the other end of this pipe is closed. waiting: of the jails that this one works with, whose
    waits count for each other; None: only its own counts.
    """

    driver: str
    source: str
    payload: Any = None
    limits: Limits = Limits()
    channel: tuple[int, ...] = ()
    until: int | None = None
    waiting: Waiting | None = None


@dataclass(frozen=True)
class Outcome:
    """What came of one Python candidate.

    value: its reply as JSON (NaN and infinities allowed), None unless status is "ok". It is the candidate's
    word: check what matters. reason: one line, empty when status is "ok". cpu_s, peak_mb: from the kernel's
    accounting; peak_mb is resident memory and includes the preloaded modules. wall_s: the supervisor's clock.
    starved: it was ended by the clock although the host had not let it run for as long as it may; its status
    is "timeout", and says nothing of it. jail: the mode it ran in; "rlimits" is the weaker one.
    """

    status: Status
    value: Any
    reason: str
    stdout: str
    stderr: str
    cpu_s: float
    wall_s: float
    peak_mb: float
    jail: JailMode
    starved: bool = False


@dataclass(frozen=True)
class NativeOutcome:
    """What came of one native program.

    status: "ok" means that it ended by itself, with whatever `exit_code`: what a code means is the caller's
    to say. exit_code: None when a signal ended it. signal: None when none did. outputs: those of the wanted
    files that it left as regular files. programs: path and arguments of each program that it executed, in
    order, itself first; only if `run_native` was asked to record them. starved: as of an Outcome.
    delayed_s: seconds for which it was ready to run and had no processor, if `run_direct` ended it by the
    clock; else 0.
    """

    status: Status
    exit_code: int | None
    signal: int | None
    outputs: dict[str, bytes] = field(repr=False)
    stdout: bytes = field(repr=False)
    stderr: bytes = field(repr=False)
    reason: str
    cpu_s: float
    wall_s: float
    peak_mb: float
    jail: JailMode
    programs: tuple[tuple[str, ...], ...] = ()
    starved: bool = False
    delayed_s: float = 0.0


def one_line(text: str, longest: int = 500) -> str:
    """Return `text` fit for a table cell or a terminal: one line of printable characters."""
    flat = " ".join(
        "".join(character if character.isprintable() else " " for character in text[: 4 * longest]).split()
    )
    return flat if len(flat) <= longest else flat[: longest - 3] + "..."


def plain_name(name: str) -> str:
    """Return `name` if it is a relative path without `..`; InputError otherwise. Files of a native program
    are named so."""
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\0" in name or str(PurePosixPath(name)) != name:
        raise InputError(
            f"file name {name!r} cannot be used in the jail", wanted="a plain relative path without '..'"
        )
    return name
