"""Run one native program in a jail of its own, without a server in it: for programs that are run by the thousand, where start-up time counts.

`native.run_native` starts a Python server in each jail, which copies files in and out; here bubblewrap itself starts the program. Files of the host
are bound one by one, read-only or (existing files, no folders) writable, so that nothing has to be collected after the end and the program can
neither make a file nor a link. There is no /proc, and no process or thread can be made (to become another program of the system stays possible, since
bubblewrap itself must: it is the same process under the same limits). Time and memory are the kernel's account of the jail alone
(see `inside.launcher`). With process 1 of the jail the kernel ends all there is.

The limit of processor time is held by the supervisor, which looks at the exact account when the limit could first be reached: RLIMIT_CPU counts in
ticks, and was seen to end a run at nine tenths of its limit. It stays as a backstop, a second later.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evolake.errors import InputError, JailUnavailable
from evolake.jail import bubblewrap
from evolake.jail.backends import backend
from evolake.jail.inside.launcher import GO, INFORMATION, RULES
from evolake.jail.launching import launcher
from evolake.jail.protocol import JailMode, Limits, NativeOutcome, Status, one_line, plain_name
from evolake.jail.supervise import Stream
from evolake.jail.verdict import signal_name

PROGRAMS, WORK = "/solver", "/work"
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC"}
ENDING_S = 10.0
"""How long a killed jail may take to be gone; it takes microseconds unless the machine is broken."""
BACKSTOP_S = 1.0
SHORTEST_LOOK_S = 0.002
CANNOT_EXECUTE = "bwrap: execvp "
"""How bubblewrap's complaint begins when there is no such program. A program may write the same: then it is not run either."""


@dataclass(frozen=True)
class DirectRun:
    """What is to be run.

    argv: program and arguments; `{solver}` and `{work}` stand for the two folders below, as the program sees them.
    programs: folder bound read-only at `{solver}`. inputs: name -> file of the host, read-only at `{work}/name`. writable: name -> existing file of
    the host that the program may overwrite, up to limits.file_mb. environment: beside PATH, LANG and TZ.
    """

    argv: Sequence[str]
    programs: Path | None = None
    inputs: Mapping[str, Path] = field(default_factory=dict)
    writable: Mapping[str, Path] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.argv:
            raise InputError("a native program needs a command line", got="an empty argv")
        for name, path in {**self.inputs, **self.writable}.items():
            if "/" in plain_name(name) or not path.is_file():
                raise InputError(f"{path} cannot be given to a native program as {name!r}", wanted="a file and a plain name")
        if self.programs is not None and not self.programs.is_dir():
            raise InputError(f"there is no folder {self.programs} with a native program")

    def arguments(self, programs: str, work: str) -> list[str]:
        """argv with the folders' names in it."""
        return [part.replace("{solver}", programs).replace("{work}", work) for part in self.argv]


def run_direct(run: DirectRun, limits: Limits = Limits(), *, core: int | None = None, mode: str | None = None) -> NativeOutcome:
    """Run it to its end. `outputs` of the outcome is empty: what the program writes is in the `writable` files.

    core: pin it to this processor. limits.processes must be 0. mode: as for `open_pool`.

    Raises:
        JailUnavailable: the jail cannot be built; nothing was judged. InputError: a name, file, core or limit cannot be used.
    """
    if limits.processes:
        raise InputError("a direct native run has no further processes", got=f"limits.processes = {limits.processes}", do="use run_native")
    if core is not None and core not in os.sched_getaffinity(0):
        raise InputError(f"core {core} cannot be used", wanted=f"one of {sorted(os.sched_getaffinity(0))}")
    chosen = backend(mode)
    with contextlib.ExitStack() as stack:
        message = {"limits": replace(limits, cpu_s=limits.cpu_s + BACKSTOP_S).to_json(), "core": core}
        message |= in_namespaces(run) if chosen.mode == "bubblewrap" else on_the_host(run, stack)
        streams = [Stream(limits.output_bytes), Stream(limits.output_bytes)]
        for stream in streams:
            stack.callback(stream.close)
        return _judge(_follow(message, streams, limits, stack), streams, limits, chosen.mode)


def in_namespaces(run: DirectRun) -> dict[str, Any]:
    """The launcher's order for a run in bubblewrap."""
    options = [str(bubblewrap.find()), "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    options += ["--uid", bubblewrap.NOBODY, "--gid", bubblewrap.NOBODY, "--hostname", "jail", "--clearenv"]
    options += [*bubblewrap.system_options(), "--dev-bind", "/dev/null", "/dev/null", "--dir", WORK]
    if run.programs is not None:
        options += ["--ro-bind", str(run.programs.resolve()), PROGRAMS]
    for kind, files in (("--ro-bind", run.inputs), ("--bind", run.writable)):
        for name, path in files.items():
            options += [kind, str(path.resolve()), f"{WORK}/{name}"]
    for name, value in (ENVIRONMENT | dict(run.environment)).items():
        options += ["--setenv", name, value]
    options += ["--remount-ro", "/", "--chdir", WORK, "--info-fd", str(INFORMATION), "--block-fd", str(GO), "--seccomp", str(RULES)]
    return {"namespaces": True, "argv": [*options, "--", *run.arguments(PROGRAMS, WORK)]}


def on_the_host(run: DirectRun, stack: contextlib.ExitStack) -> dict[str, Any]:
    """The launcher's order for a run in the weaker mode, in a folder of its own; inputs are copied, so that their names tell nothing."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="evolake-direct-", ignore_cleanup_errors=True)))
    for name, path in run.inputs.items():
        shutil.copyfile(path, folder / name)
    for name, path in run.writable.items():
        (folder / name).symlink_to(path.resolve())
    argv = run.arguments(str(run.programs.resolve()) if run.programs else "", str(folder))
    environment = ENVIRONMENT | dict(run.environment)
    return {"namespaces": False, "argv": argv, "environment": environment, "folder": str(folder), "complaint": CANNOT_EXECUTE}


@dataclass(frozen=True)
class Ended:
    """code: exit code, or 128 + the signal, as bubblewrap reports it. cause: why the supervisor ended it, None when it did not."""

    code: int
    cpu_s: float
    peak_mb: float
    cause: Status | None
    wall_s: float


def _follow(message: dict[str, Any], streams: list[Stream], limits: Limits, stack: contextlib.ExitStack) -> Ended:
    """Start it and read its output until it has ended; end it at the clock's limit or when it writes too much. Raises JailUnavailable."""
    starter = launcher()
    started = starter.start(message, tuple(stream.writer for stream in streams))
    for stream in streams:
        stream.close_writer()
    if started is None:
        streams[1].read()
        raise bubblewrap.explain(streams[1].data.decode(errors="replace").strip())
    began = time.monotonic()
    target, handle = started
    stack.callback(os.close, handle)
    stack.callback(starter.retire_unless_idle)
    cause: Status | None = None
    deadline, look = began + limits.wall_s, began + limits.cpu_s
    selector = stack.enter_context(selectors.DefaultSelector())
    selector.register(starter.control, selectors.EVENT_READ, None)
    for stream in streams:
        selector.register(stream.reader, selectors.EVENT_READ, stream)
    while True:
        ready = selector.select(max(0.0, min(deadline, look) - time.monotonic()))
        if any(key.data is None for key, _ in ready):
            break
        for key, _ in ready:
            if not key.data.read() or key.data.over:
                selector.unregister(key.fileobj)
        now = time.monotonic()
        if cause is not None:
            if now >= deadline:
                raise JailUnavailable("a killed jail is still there", do="look at the machine's health")
            continue
        if now >= look:
            left = limits.cpu_s - processor_time(target, namespaces=message["namespaces"])
            look = now + max(left, SHORTEST_LOOK_S)
            cause = "cpu" if left <= 0 else None
        if now >= deadline:
            cause = "timeout"
        if any(stream.over for stream in streams):
            cause = "output"
        if cause is not None:
            deadline, look = now + ENDING_S, float("inf")
            _kill(target, handle, namespaces=message["namespaces"])
    wall_s = time.monotonic() - began
    report = starter.ended()
    for stream in streams:
        while not stream.over and _has_more(stream):
            pass
    if any(stream.over for stream in streams):
        cause = cause or "output"
    code = report["code"]
    return Ended(code if code >= 0 else 128 - code, report["cpu_s"], report["peak_mb"], cause, wall_s)


def processor_time(target: int, *, namespaces: bool) -> float:
    """Seconds of processor time of the program so far; 0 when it is just ending. target: itself, or the process 1 above it."""
    try:
        program = _only_child(target) if namespaces else target
        return int(Path(f"/proc/{program}/schedstat").read_text().split()[0]) / 1e9
    except (OSError, IndexError):
        return 0.0


def _only_child(process: int) -> int:
    """Number of the program below the jail's process 1. Raises OSError or IndexError when it has ended."""
    return int(Path(f"/proc/{process}/task/{process}/children").read_text().split()[0])


def _kill(target: int, handle: int, *, namespaces: bool) -> None:
    """End the run. In a jail the program itself, so that process 1 waits for it and its account arrives; where it is not found, process 1."""
    with contextlib.suppress(ProcessLookupError):
        if namespaces:
            with contextlib.suppress(OSError, IndexError):
                program = _only_child(target)
                own = os.pidfd_open(program)
                try:
                    if program == _only_child(target):  # the number was not given to another in between
                        signal.pidfd_send_signal(own, signal.SIGKILL)
                        return
                finally:
                    os.close(own)
        signal.pidfd_send_signal(handle, signal.SIGKILL)


def _has_more(stream: Stream) -> bool:
    """Read once of what the ended program left in the pipe; False when it is empty."""
    before = len(stream.data)
    return stream.read() and len(stream.data) > before


def _judge(ended: Ended, streams: list[Stream], limits: Limits, mode: JailMode) -> NativeOutcome:
    stdout, stderr = (bytes(stream.data[: stream.cap]) for stream in streams)
    number = ended.code - 128 if ended.code > 128 and ended.code - 128 in set(signal.Signals) else None
    status: Status
    status, reason = "ok", ""
    if ended.cause == "timeout":
        status, reason = "timeout", f"still running after {limits.wall_s:g} s of wall clock"
    elif ended.cause == "output":
        status, reason = "output", f"wrote more than {limits.output_bytes} bytes"
    elif ended.cause == "cpu" or ended.cpu_s > limits.cpu_s or number == signal.SIGXCPU:
        status, reason = "cpu", f"used more than {limits.cpu_s:g} s of processor time"
    elif number == signal.SIGXFSZ:
        status, reason = "output", f"wrote a file larger than {limits.file_mb} MiB"
    elif number == signal.SIGSYS:
        status, reason = "forbidden", "made a system call of a foreign architecture"
    elif number is not None:
        status, reason = "killed", f"died by {signal_name(number)}"
    elif ended.code == 1 and stderr.startswith(CANNOT_EXECUTE.encode()):
        status, reason = "error", f"the program cannot be executed: {stderr.decode(errors='replace').removeprefix(CANNOT_EXECUTE)}"
    return NativeOutcome(
        status=status, exit_code=ended.code if number is None else None, signal=number, outputs={}, stdout=stdout, stderr=stderr,
        reason=one_line(reason), cpu_s=ended.cpu_s, wall_s=ended.wall_s, peak_mb=ended.peak_mb, jail=mode,
    )
