"""Run one native program in its own jail, without a server in it: for programs that are run by the thousand,
where start-up time counts.

`native.run_native` starts a Python server in each jail, which copies files in and out; here bubblewrap itself
starts the program. Files of the host are bound one by one, read-only or (existing files, no folders)
writable, so that nothing has to be collected after the end and the program can neither make a file nor a
link. There is no /proc, and no process or thread can be made. To become another program cannot be refused,
since bubblewrap itself must; but the jail holds none but the program itself, its loader and its libraries.
Time and memory are the kernel's account of the jail alone (see `inside.launcher`). With process 1 of the jail
the kernel ends all there is.

The limit of processor time is held by the supervisor, which looks at the exact account when the limit could
first be reached: RLIMIT_CPU counts in ticks, and was seen to end a run at nine tenths of its limit. It stays
as a backstop, a second later.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import evolake
from evolake.errors import InputError, JailUnavailable
from evolake.jail import bubblewrap, elf, identity
from evolake.jail.backends import backend
from evolake.jail.identity import interpreter
from evolake.jail.inside.launcher import GO, INFORMATION, INNER, OUTER, RULES
from evolake.jail.launching import launcher
from evolake.jail.protocol import JailMode, Limits, NativeOutcome, Status, one_line, plain_name
from evolake.jail.supervise import Stream, signal_name
from evolake.scratch import Scratch

PROGRAMS, WORK = "/solver", "/work"
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC"}
ENDING_S = 10.0
"""How long a killed jail may take to be gone; it takes microseconds unless the machine is broken."""
BACKSTOP_S = 1.0
SHORTEST_LOOK_S = 0.002
CANNOT_EXECUTE = "bwrap: execvp "
"""How bubblewrap's complaint begins when there is no such program. A program may write the same: then it is
not run either."""


@dataclass(frozen=True)
class DirectRun:
    """What is to be run.

    argv: program and arguments; `{solver}` and `{work}` stand for the two folders below, as the program sees
    them. programs: folder that `{solver}` stands for; of it, only the program itself is shown. inputs: name
    -> file of the host, read-only at `{work}/name`. writable: name -> existing file of the host that the
    program may overwrite, up to limits.file_mb. environment: next to PATH, LANG and TZ. tools: programs of
    the system that the program may become; a script's interpreter must be one of them, and a program of the
    system in argv is one. With their libraries (see `elf`) they are all that the jail can execute. python: it
    is a program of our own in Python: the system, the interpreter and evolake are shown, as for a pool.
    """

    argv: Sequence[str]
    programs: Path | None = None
    inputs: Mapping[str, Path] = field(default_factory=dict)
    writable: Mapping[str, Path] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    tools: Sequence[Path] = ()
    python: bool = False

    def __post_init__(self) -> None:
        if not self.argv:
            raise InputError("a native program needs a command line", got="an empty argv")
        for name, path in {**self.inputs, **self.writable}.items():
            if "/" in plain_name(name) or not path.is_file():
                raise InputError(
                    f"{path} cannot be given to a native program as {name!r}",
                    wanted="a file and a plain name",
                )
        if self.programs is not None and not self.programs.is_dir():
            raise InputError(f"there is no folder {self.programs} with a native program")

    def arguments(self, programs: str, work: str) -> list[str]:
        """Return argv with the folders' names in it."""
        return [part.replace("{solver}", programs).replace("{work}", work) for part in self.argv]


def run_direct(
    run: DirectRun,
    limits: Limits = Limits(),
    *,
    core: int | None = None,
    mode: str | None = None,
    shown: Limits | None = None,
) -> NativeOutcome:
    """Run it to its end. `outputs` of the outcome is empty: what the program writes is in the `writable`
    files.

    core: pin it to this processor. limits.processes must be 0. mode: as for `open_pool`. shown: the limits
    that the kernel holds, which the program can read; default: `limits`. The supervisor holds the times of
    `limits` either way; what else of them is tighter the caller judges by the outcome.

    Raises:
        JailUnavailable: the jail cannot be built; nothing was judged. InputError: a name, file, core or limit
            cannot be used.
    """
    if limits.processes:
        raise InputError(
            "a direct native run has no further processes",
            got=f"limits.processes = {limits.processes}",
            do="use run_native",
        )
    if core is not None and core not in os.sched_getaffinity(0):
        raise InputError(f"core {core} cannot be used", wanted=f"one of {sorted(os.sched_getaffinity(0))}")
    chosen = backend(mode)
    with contextlib.ExitStack() as stack:
        kernels = shown or limits
        message = {"limits": replace(kernels, cpu_s=kernels.cpu_s + BACKSTOP_S).to_json(), "core": core}
        try:
            message |= in_namespaces(run, stack) if chosen.mode == "bubblewrap" else on_the_host(run, stack)
        except elf.BadProgram as error:
            return _not_run(run, str(error), chosen.mode)
        streams = [Stream(limits.output_bytes), Stream(limits.output_bytes)]
        for stream in streams:
            stack.callback(stream.close)
        return _judge(_follow(message, streams, limits, stack), streams, limits, chosen.mode)


def in_namespaces(run: DirectRun, stack: contextlib.ExitStack) -> dict[str, Any]:
    """Return the launcher's order for a run in bubblewrap. Raises BadProgram when the program cannot be
    one."""
    number = launcher().identity
    shown = identity.Shown(number, stack)
    options = [str(bubblewrap.find()), *bubblewrap.own_namespaces(number, OUTER, INNER)]
    if run.python:
        python, folders = interpreter()
        options += [
            *bubblewrap.system_options(),
            *bubblewrap.python_options(python, folders, Path(evolake.__file__).resolve().parent),
        ]
    else:
        options += bubblewrap.system_links()
        for place, path in executables(run).items():
            options += ["--ro-bind", str(shown.readable(path)), place]
    options += [*bubblewrap.device_options(("null",)), "--dir", WORK]
    for name, path in run.inputs.items():
        options += ["--ro-bind", str(shown.readable(path.resolve())), f"{WORK}/{name}"]
    for name, path in run.writable.items():
        options += ["--bind", str(shown.writable(path.resolve())), f"{WORK}/{name}"]
    for name, value in (ENVIRONMENT | dict(run.environment)).items():
        options += ["--setenv", name, value]
    options += [
        *bubblewrap.waiting(number, GO, OUTER, INNER),
        "--remount-ro",
        "/",
        "--chdir",
        WORK,
        "--info-fd",
        str(INFORMATION),
    ]
    options += ["--seccomp", str(RULES)]
    return {"namespaces": True, "identity": number, "argv": [*options, "--", *run.arguments(PROGRAMS, WORK)]}


def executables(run: DirectRun) -> dict[str, Path]:
    """Return place in the jail -> file of the host, of all that the run can execute or load. Raises
    BadProgram."""
    result: dict[str, Path] = {}
    tools = {elf.place(path): path.resolve() for path in run.tools}
    if run.argv[0].startswith("{solver}/") and run.programs is not None:
        name = plain_name(run.argv[0].removeprefix("{solver}/"))
        path = (run.programs / name).resolve()
        if not path.is_file() or not os.access(path, os.X_OK):
            raise elf.BadProgram("No such file, or none to be executed")
        result[f"{PROGRAMS}/{name}"] = path
        needs = elf.read(path)
        if not needs.script:
            result |= elf.needed(path, trusted=False)
        elif elf.place(Path(needs.script[0].strip())) not in tools:
            raise elf.BadProgram(f"it is a script for {needs.script[0].strip()[:100]}")
    else:
        path = Path(run.argv[0])
        if not path.is_absolute() or not path.is_file():
            raise elf.BadProgram("No such file or directory")
        tools[elf.place(path)] = path.resolve()
    for place, path in tools.items():
        result |= {place: path, **elf.needed(path, trusted=True)}
    return result


def on_the_host(run: DirectRun, stack: contextlib.ExitStack) -> dict[str, Any]:
    """Return the launcher's order for a run in the weaker mode, in its own folder; inputs are copied, so that
    their names say nothing."""
    folder = Path(stack.enter_context(Scratch("direct", ignore_cleanup_errors=True)))
    for name, path in run.inputs.items():
        shutil.copyfile(path, folder / name)
    for name, path in run.writable.items():
        (folder / name).symlink_to(path.resolve())
    argv = run.arguments(str(run.programs.resolve()) if run.programs else "", str(folder))
    environment = ENVIRONMENT | dict(run.environment)
    return {
        "namespaces": False,
        "argv": argv,
        "environment": environment,
        "folder": str(folder),
        "complaint": CANNOT_EXECUTE,
    }


@dataclass(frozen=True)
class Ended:
    """code: exit code, or 128 + the signal, as bubblewrap reports it. cause: why the supervisor ended it,
    None when it did not. delayed_s: as in `NativeOutcome`."""

    code: int
    cpu_s: float
    peak_mb: float
    cause: Status | None
    wall_s: float
    delayed_s: float = 0.0


def _follow(
    message: dict[str, Any], streams: list[Stream], limits: Limits, stack: contextlib.ExitStack
) -> Ended:
    """Start it and read its output until it has ended; end it at the clock's limit or when it writes too
    much. Raises JailUnavailable."""
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
    deadline, look, delayed = began + limits.wall_s, began + limits.cpu_s, 0.0
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
            times = processor_times(target, namespaces=message["namespaces"])
            left = limits.cpu_s - (times[0] if times else 0.0)
            look = now + max(left, SHORTEST_LOOK_S)
            cause = "cpu" if left <= 0 else None
        if now >= deadline:
            cause = "timeout"
            times = processor_times(target, namespaces=message["namespaces"])
            # A program that has not begun yet waits for the machine.
            delayed = times[1] if times else now - began
        if any(stream.over for stream in streams):
            cause = "output"
        if cause is not None:
            deadline, look = now + ENDING_S, float("inf")
            _kill(target, handle, namespaces=message["namespaces"])
    wall_s = time.monotonic() - began
    report = starter.ended()
    for stream in streams:
        stream.read_rest()
    if any(stream.over for stream in streams):
        cause = cause or "output"
    code = report["code"]
    return Ended(
        code if code >= 0 else 128 - code, report["cpu_s"], report["peak_mb"], cause, wall_s, delayed
    )


def processor_times(target: int, *, namespaces: bool) -> tuple[float, float] | None:
    """Return the seconds for which the program ran, and for which it was ready to run and waited for a
    processor.

    None if it has not begun or is just ending. Both are 0 on a kernel that does not count them. target:
    itself, or the process 1 above it.
    """
    try:
        program = _only_child(target) if namespaces else target
    except (OSError, IndexError):
        return None
    try:
        ran, waited, *_ = Path(f"/proc/{program}/schedstat").read_text().split()
        return int(ran) / 1e9, int(waited) / 1e9
    except (OSError, ValueError):
        return 0.0, 0.0


def _only_child(process: int) -> int:
    """Return the number of the program below the jail's process 1. Raises OSError or IndexError when it has
    ended."""
    return int(Path(f"/proc/{process}/task/{process}/children").read_text().split()[0])


def _kill(target: int, handle: int, *, namespaces: bool) -> None:
    """End the run. In a jail the program itself, so that process 1 waits for it and its account arrives;
    where it is not found, process 1."""
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


def _not_run(run: DirectRun, why: str, mode: JailMode) -> NativeOutcome:
    """Return the outcome of a program that no jail starts."""
    reason = one_line(f"the program cannot be executed: {run.argv[0]}: {why}")
    return NativeOutcome(
        status="error",
        exit_code=1,
        signal=None,
        outputs={},
        stdout=b"",
        stderr=b"",
        reason=reason,
        cpu_s=0.0,
        wall_s=0.0,
        peak_mb=0.0,
        jail=mode,
    )


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
        status, reason = (
            "error",
            f"the program cannot be executed: {stderr.decode(errors='replace').removeprefix(CANNOT_EXECUTE)}",
        )
    return NativeOutcome(
        status=status,
        exit_code=ended.code if number is None else None,
        signal=number,
        outputs={},
        stdout=stdout,
        stderr=stderr,
        reason=one_line(reason),
        cpu_s=ended.cpu_s,
        wall_s=ended.wall_s,
        peak_mb=ended.peak_mb,
        jail=mode,
        delayed_s=ended.delayed_s,
    )
