"""The process of one native program, and the collection of what it leaves behind."""

# pathlib would cost every native run its import
# ruff: noqa: PTH103, PTH118, PTH120

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import stat
from typing import Any, NamedTuple, NoReturn

from evolake.jail.inside import executed, kernel, seccomp
from evolake.jail.inside.descriptors import CHANNEL_OF_PROGRAM, arrange

CANNOT_EXECUTE = 127
DESCRIPTOR_OF_FAILURE = 3
BELOW_THE_SERVER = 10
"""Niceness of a program that may make processes: the one that counts them must get its turn among them."""


class Ends(NamedTuple):
    """The descriptors of one program. failure: takes the error of one that cannot be executed. channel: what
    it gets as CHANNEL_OF_PROGRAM. group: of the control group that it is to be in (`cgroup.procs`). listener:
    see `executed`."""

    stdin: int
    stdout: int
    stderr: int
    failure: int
    channel: list[int]
    group: int | None
    listener: socket.socket | None


def write_inputs(folder: str, files: list[tuple[str, int]], data: bytes) -> None:
    """Create the files (name, size) under `folder` from their concatenated contents, all executable."""
    position = 0
    for name, size in files:
        descriptor = _create(os.path.join(folder, name))
        try:
            rest = memoryview(data)[position : position + size]
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        finally:
            os.close(descriptor)
        position += size


def _create(path: str) -> int:
    """Return a descriptor of a new file, in folders that are made if they are not there."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    try:
        return os.open(path, flags, 0o755)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return os.open(path, flags, 0o755)


def execute(
    argv: list[str],
    environment: dict[str, str],
    folder: str,
    root: str,
    ends: Ends,
    limits: dict[str, Any],
    policy: seccomp.Policy,
) -> NoReturn:
    """Become the program. A program that cannot be executed writes its error to `ends.failure` and ends with
    127. root: what it is to see as "/" ("" when that is the server's own); it keeps no descriptor and no
    capability by which it could leave it. Where the kernel refuses the control group, the server's watch is
    alone."""
    if ends.group is not None:
        with contextlib.suppress(OSError):
            os.write(ends.group, b"0")
    if ends.listener is not None:
        executed.listen(ends.listener)
    further = {CHANNEL_OF_PROGRAM[0] + place: descriptor for place, descriptor in enumerate(ends.channel)}
    arrange(
        {1: ends.stdout, 2: ends.stderr, DESCRIPTOR_OF_FAILURE: ends.failure, **further},
        standard_input=ends.stdin,
    )
    os.set_inheritable(DESCRIPTOR_OF_FAILURE, False)
    if root:
        os.chroot(root)
    kernel.drop_capabilities()
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.chdir(folder)
        os.setsid()
        if policy.processes:
            os.nice(BELOW_THE_SERVER)
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        program = argv[0] if "/" in argv[0] else _find(argv[0], environment["PATH"])
        seccomp.install(policy)
        kernel.set_limits(limits, above=0)
        if policy.signals:
            kernel.set_most_processes(limits["processes"])
        os.execve(program, argv, environment)
    except (OSError, MemoryError) as error:
        os.write(DESCRIPTOR_OF_FAILURE, f"{argv[0]} cannot be executed: {error}".encode())
    os._exit(CANNOT_EXECUTE)


def _find(name: str, path: str) -> str:
    for folder in path.split(":"):
        candidate = f"{folder}/{name}"
        if os.access(candidate, os.X_OK):
            return candidate
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)


def collect(root: int, names: list[str], most_bytes: int) -> tuple[list[tuple[str, int]], bytes, list[str]]:
    """Return what the program left: ([(name, size)], contents one after another, reasons why others were left
    out).

    `root` is a descriptor of the folder, opened before the program started. Every step of a name is opened
    relative to the step before and never through a link, so a link made by the program leads nowhere; opening
    does not block on a pipe it made, and only regular files are read.
    """
    result, contents, refused = [], [], []
    for name in names:
        try:
            data = _read_regular(root, name, most_bytes)
        except FileNotFoundError:
            continue
        except OSError as error:
            refused.append(f"output {name!r} was left out: {error.strerror}")
            continue
        result.append((name, len(data)))
        contents.append(data)
    return result, b"".join(contents), refused


def _read_regular(root: int, name: str, most_bytes: int) -> bytes:
    with contextlib.ExitStack() as stack:
        here = root
        *folders, last = name.split("/")
        for folder in folders:
            here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            stack.callback(os.close, here)
        descriptor = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=here)
        file = stack.enter_context(os.fdopen(descriptor, "rb"))
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        if status.st_size > most_bytes:
            raise OSError(errno.EFBIG, f"it is larger than {most_bytes} bytes")
        return file.read(most_bytes + 1)
