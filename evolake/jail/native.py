"""Run one native program in its own jail, built for it and thrown away with everything that it wrote; or fork
one program of ours from a warm jail's server (`inside.forked`).

The jail holds a sized tmpfs; files go in and come out through the fork server, so no folder of the host is
shared with the program.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evolake.errors import InputError, JailUnavailable, MachineryError
from evolake.jail import bubblewrap, elf, groups, supervise, toolbox
from evolake.jail.backends import Backend, backend
from evolake.jail.inside import watch
from evolake.jail.process import JailDied, JailProcess, request_descriptor
from evolake.jail.protocol import Limits, NativeOutcome, Status, one_line, plain_name
from evolake.jail.waiting import Waiting
from evolake.scratch import Scratch

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "USER": "nobody", "LANG": "C.UTF-8", "TZ": "UTC"}
SCRATCH_FILES = 4
"""The folder's size is that of the inputs and of so many files of the largest allowed size."""
SHARED_MEMORY = 0.5
"""Size of /dev/shm as a share of the run's memory, of which what is in it is a part."""
LONGEST_LISTING = 32 << 20
COMPILERS = ("cc", "gcc", "clang")
BUILD_LIMITS = Limits(cpu_s=60, wall_s=180, memory_mb=2048, file_mb=16, processes=16)


@dataclass(frozen=True)
class NativeRun:
    """What is to be run, in a fresh folder that holds `files`, and which `outputs` of that folder are brought
    back.

    argv: program and arguments. A program with a slash is relative to the folder ("./solver") or part of the
    system ("/usr/bin/env"). In addition, the jail has what `toolbox` names, and no other program of the
    system. files: relative name -> contents, or the path of a host file to copy. All are executable. outputs:
    relative names. Links, pipes and files above limits.file_mb are not read; absent ones are just absent.
    stdin: what it reads from standard input. python: it is Python code of our own: the program sees the whole
    system, the interpreter and evolake, as a pool's candidate does. proc: False hides /proc, whose counters
    of the machine one run could advance and a later one read. record: note what the program executes
    (`NativeOutcome.programs`). tools: programs of `toolbox.EXTRA` that it gets too. shown: place in the jail
    -> file or folder of the host that is read-only there; only in bubblewrap. path: folders of PATH beyond
    the usual ones. shared_memory: its processes may share the files of a private /dev/shm, and talk by pairs
    of sockets: for asyncio and multiprocessing. Only for
        a program that may make processes.
    channel: descriptors, the caller's to close, that the program gets as `CHANNEL_OF_PROGRAM`. Such a run is
    not tried again if the jail dies.
    """

    argv: Sequence[str]
    files: Mapping[str, bytes | Path] = field(default_factory=dict)
    outputs: Iterable[str] = ()
    stdin: bytes = b""
    python: bool = False
    proc: bool = True
    record: bool = False
    tools: Sequence[str] = ()
    shown: Mapping[str, Path] = field(default_factory=dict)
    path: Sequence[str] = ()
    shared_memory: bool = False
    channel: tuple[int, ...] = ()


def run_native(
    run: NativeRun, limits: Limits = Limits(), *, mode: str | None = None, waiting: Waiting | None = None
) -> NativeOutcome:
    """Run a program to its end, and bring back those outputs that it leaves as regular files.

    mode: as for `open_pool`. waiting: as of a Call.

    Raises:
        JailUnavailable: the jail failed twice or cannot be built; nothing was judged. Also when the weaker
            mode is asked for processes. InputError: a name or file cannot be used.
    """
    names = [plain_name(name) for name in run.outputs]
    contents = {plain_name(name): _contents(name, value) for name, value in run.files.items()}
    if not run.argv:
        raise InputError("a native program needs a command line", got="an empty argv")
    chosen = backend(mode)
    if limits.processes and not chosen.counts_processes:
        raise JailUnavailable(
            f"the jail {chosen.mode} cannot hold a program that makes processes, so it was not run",
            wanted="bubblewrap, whose process namespace ends them all",
            got=f"limits.processes = {limits.processes}",
            do=f"unset EVOLAKE_JAIL; to get it: {bubblewrap.INSTALL}",
        )
    for attempt in (1, 2):
        try:
            with Scratch("native", ignore_cleanup_errors=True) as parent:  # rlimits: the program can tamper
                host_folder = Path(parent) / "work"
                host_folder.mkdir()
                return _run_once(chosen, run, contents, names, limits, host_folder, waiting)
        except JailDied as death:
            if attempt == 2 or run.channel:
                raise JailUnavailable(
                    "the jail died under a program, so nothing was judged", got=str(death)
                ) from None
    raise AssertionError("unreachable")


def _contents(name: str, value: bytes | Path) -> bytes:
    if isinstance(value, bytes):
        return value
    try:
        return value.read_bytes()
    except OSError as error:
        raise InputError(f"input file {name!r} of a native program cannot be read", got=str(error)) from None


def _run_once(
    chosen: Backend,
    run: NativeRun,
    files: dict[str, bytes],
    names: list[str],
    limits: Limits,
    host_folder: Path,
    waiting: Waiting | None,
) -> NativeOutcome:
    try:
        box = (
            toolbox.options(run.argv[0], run.tools)
            if chosen.mode == "bubblewrap" and not run.python
            else None
        )
    except elf.BadProgram as error:
        raise InputError(f"{run.argv[0]} cannot be run in a jail", got=str(error)) from None
    if run.shown and chosen.mode != "bubblewrap":
        raise InputError(
            f"the jail {chosen.mode} cannot show a program files of the host",
            got=", ".join(run.shown),
            do="unset EVOLAKE_JAIL, or give them as files",
        )
    shm_mb = max(1, int(limits.most_mb * SHARED_MEMORY)) if run.shared_memory and limits.processes else 0
    view = bubblewrap.View(run.proc, shm_mb, run.shown)
    with contextlib.ExitStack() as stack:
        group = stack.enter_context(groups.group(limits.most_mb)) if limits.processes else None
        jail = JailProcess(
            chosen,
            scratch_mb=scratch_mb(files, limits),
            host_folder=host_folder,
            box=box,
            view=view,
            group=group,
        )
        stack.callback(jail.kill)
        try:
            jail.begin_import([])
            jail.end_import()
        except JailDied:
            raise jail.failure_to_start() from None
        environment = ENVIRONMENT | {"PATH": ":".join([ENVIRONMENT["PATH"], *run.path])}
        head = json.dumps(
            {
                "argv": list(run.argv),
                "environment": environment | {"HOME": jail.folder, "TMPDIR": jail.folder},
                "folder": jail.folder,
                "files": [(name, len(data)) for name, data in files.items()],
                "outputs": names,
                "record": run.record,
                "root": jail.root,
                "shared_memory": bool(shm_mb),
            }
        ).encode()
        descriptors = []
        for data in (head + b"".join(files.values()), run.stdin):
            descriptors.append(request_descriptor(data))
            stack.callback(os.close, descriptors[-1])
        os.lseek(descriptors[1], 0, os.SEEK_SET)
        descriptors += [*run.channel, *(group.descriptors if group else ())]
        result_cap = LONGEST_LISTING + len(names) * limits.file_mb * (1 << 20)
        caps = {"stdout": limits.output_bytes, "stderr": limits.output_bytes, "result": result_cap}
        streams = {name: supervise.Stream(cap) for name, cap in caps.items()}
        message = {
            "op": "execute",
            "limits": limits.to_json(),
            "head_size": len(head),
            "channel": len(run.channel),
        }
        seen = supervise.observe(jail, message, tuple(descriptors), streams, limits, waiting=waiting)
        if group and seen.report["out_of_memory"]:
            seen = out_of_memory(seen, group.peak_mb(), limits)
    return _outcome(chosen, seen, limits)


def scratch_mb(files: Mapping[str, bytes], limits: Limits) -> int:
    """Return MiB of the folder of a run with these files."""
    return sum(map(len, files.values())) // (1 << 20) + SCRATCH_FILES * max(limits.file_mb, 1) + 1


def out_of_memory(
    seen: supervise.Observation, peak_mb: float | None, limits: Limits
) -> supervise.Observation:
    """`seen` of a run of which the kernel has ended processes: past the run's own limit when it has a peak
    (see `Group.peak_mb`)."""
    if peak_mb is None:
        return seen
    excess = f"{watch.too_much_memory(limits.most_mb)}: the kernel ended it"
    return replace(
        seen, report=seen.report | {"excess": excess, "peak_mb": max(peak_mb, seen.report["peak_mb"])}
    )


def forked_outcome(chosen: Backend, seen: supervise.Observation, limits: Limits) -> NativeOutcome:
    """Return what came of a run without a result of the server's own: see `ForkedRun`."""
    return _ended(chosen, seen, *(supervise.judge(seen, limits) or ("ok", "")))


def _ended(chosen: Backend, seen: supervise.Observation, status: Status, reason: str) -> NativeOutcome:
    return NativeOutcome(
        status=status,
        exit_code=seen.report["exit_code"],
        signal=seen.report["signal"],
        outputs={},
        stdout=seen.streams["stdout"],
        stderr=seen.streams["stderr"],
        reason=one_line(reason),
        cpu_s=seen.report["cpu_s"],
        wall_s=seen.wall_s,
        peak_mb=seen.report["peak_mb"],
        jail=chosen.mode,
        starved=seen.starved,
    )


def _outcome(chosen: Backend, seen: supervise.Observation, limits: Limits) -> NativeOutcome:
    supervise.refuse_broken(seen)
    head, _, rest = seen.streams["result"].partition(b"\n")
    listing: dict[str, Any] = json.loads(rest[: int(head)])
    position, outputs = int(head), {}
    for name, size in listing["files"]:
        outputs[name] = rest[position : position + size]
        position += size
    status: Status
    judged = supervise.judge(seen, limits)
    if judged is None and listing["failure"]:
        judged = "error", listing["failure"]
    status, reason = judged or ("ok", "; ".join(listing["refused"]))
    programs = tuple(tuple(line) for line in listing["programs"])
    return replace(_ended(chosen, seen, status, reason), outputs=outputs, programs=programs)


@dataclass(frozen=True)
class ForkedRun:
    """One program of ours to be forked from a warm server, as `NativeRun` is one to be started.

    driver: "package.module:function", called as `driver(payload)` in the jail. It answers by descriptor
    `inside.forked.ANSWER`, which is `stdout` of the outcome, and must end its process itself. files: relative
    name -> contents, in its folder. channel, waiting: as of a Call. limits: one run of a pool has as much
    memory as the other ones.
    """

    driver: str
    payload: Any
    files: Mapping[str, bytes] = field(repr=False)
    limits: Limits
    channel: tuple[int, ...] = ()
    waiting: Waiting | None = None


def observe(jail: JailProcess, run: ForkedRun, group: groups.Group | None) -> supervise.Observation:
    """Return one run in one jail, as it was seen. Raises JailDied."""
    limits = run.limits
    environment = ENVIRONMENT | {"HOME": bubblewrap.WORK, "TMPDIR": bubblewrap.WORK}
    files = [(plain_name(name), len(data)) for name, data in run.files.items()]
    head = json.dumps(
        {"driver": run.driver, "payload": run.payload, "files": files, "environment": environment}
    ).encode()
    streams = {name: supervise.Stream(limits.output_bytes) for name in ("stdout", "stderr")}
    descriptor = request_descriptor(head + b"".join(run.files.values()))
    try:
        message = {
            "op": "fork",
            "limits": limits.to_json(),
            "root": jail.root,
            "folder": bubblewrap.WORK,
            "head_size": len(head),
            "channel": len(run.channel),
            "scratch_mb": scratch_mb(run.files, limits),
            "shown": bubblewrap.visible_in_scratch(),
        }
        return supervise.observe(
            jail,
            message,
            (descriptor, *run.channel, *(group.descriptors if group else ())),
            streams,
            limits,
            waiting=run.waiting,
        )
    finally:
        os.close(descriptor)


def compiler() -> str | None:
    """Return the path of a C compiler; None if there is none on PATH."""
    return next((path for name in COMPILERS if (path := shutil.which(name))), None)


def compile_program(argv: Sequence[str], files: Mapping[str, bytes], path: Path) -> None:
    """Run a compiler in the jail on `files` (name -> contents) and keep the `program` that it makes at
    `path`.

    Raises:
        MachineryError: the sources do not compile. OSError: the program cannot be kept.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    done = run_native(NativeRun(list(argv), dict(files), ["program"]), BUILD_LIMITS)
    if done.exit_code != 0 or "program" not in done.outputs:
        raise MachineryError(
            f"{path.name} did not compile",
            got=one_line(done.stderr.decode("utf-8", "replace") or done.reason),
        )
    fresh = path.parent / f".{path.name}-{os.getpid()}"
    fresh.write_bytes(done.outputs["program"])
    fresh.chmod(0o755)
    fresh.replace(path)
