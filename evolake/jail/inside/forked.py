"""The process of one Python program of ours that is forked from the warm server instead of being started:
confined, used once, gone.

It finds what a program finds that `serve_program` starts: its own folder with its files, descriptor 1 for
what it answers, descriptor 2 for the rest, its channel at the same place. It has no /proc, and a call of the
system that it would need another process or program for ends it by SIGSYS (`Policy.ends`), so that the
supervisor can start it as a program. The memory of the server, which it begins with, holds modules and
nothing of any process before it.
"""

# pathlib would cost each process its pages
# ruff: noqa: PTH102, PTH103

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from evolake.jail.inside import kernel, program, seccomp
from evolake.jail.inside.descriptors import CHANNEL_OF_PROGRAM, arrange

PLACE = "/tmp"
ANSWER = 3
READY = b"confined"


class Ends(NamedTuple):
    """The descriptors of one run. ready: reports to the server whether the trusted part succeeded. group: of
    the control group that it is to be in."""

    request: int
    channel: list[int]
    output: int
    error: int
    ready: int
    group: int | None


@contextlib.contextmanager
def scratch(root: str, megabytes: int, shown: list[str]) -> Iterator[int]:
    """Mount an empty file system on the folder for temporary files, for one run; a descriptor of it. root:
    where the run sees it. shown: folders of the interpreter that would be hidden by it."""
    place = root + PLACE
    kernel.mount_scratch(place, megabytes)
    try:
        for path in shown:
            os.makedirs(root + path)
            kernel.bind(path, root + path)
        folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield folder
        finally:
            os.close(folder)
    finally:
        kernel.unmount(place)


def run(ends: Ends, message: dict[str, Any], policy: seccomp.Policy) -> NoReturn:
    """Serve one request in this process and end it. What fails before it is confined is the jail's failure,
    what fails after it the program's."""
    ready = ends.ready
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if ends.group is not None:
            with contextlib.suppress(OSError):
                os.write(ends.group, b"0")
        head_size = message["head_size"]
        head = json.loads(os.pread(ends.request, head_size, 0))
        os.chroot(message["root"])
        data = os.pread(ends.request, os.fstat(ends.request).st_size - head_size, head_size)
        os.mkdir(message["folder"])
        program.write_inputs(message["folder"], head["files"], data)
        os.chdir(message["folder"])
        channel = {CHANNEL_OF_PROGRAM[0] + place: descriptor for place, descriptor in enumerate(ends.channel)}
        ready_place = CHANNEL_OF_PROGRAM[0] + len(channel)
        arrange({1: ends.error, 2: ends.error, ANSWER: ends.output, **channel, ready_place: ready})
        ready = ready_place
        os.environ.update(head["environment"])
        module, _, function = head["driver"].partition(":")
        driver = getattr(importlib.import_module(module), function)
        os.setsid()
        gc.enable()
        kernel.drop_capabilities()
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        seccomp.install(policy)
        kernel.set_limits(message["limits"], above=0)
        os.write(ready, READY)
        os.close(ready)
    except BaseException as error:
        os.write(ready, f"{type(error).__name__}: {error}".encode()[:4000])
        os._exit(1)
    try:
        driver(head["payload"])
    finally:
        os._exit(1)
