"""The process of one Python candidate: forked from the warm server, confined, used once, gone.

Everything up to `confine` is trusted and quick. After it, whatever runs (the driver, the candidate, and the
code below that frames the reply) is at the candidate's mercy, and nothing outside this process depends on it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import random
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from evolake.jail.inside import kernel, seccomp
from evolake.jail.inside.descriptors import CHANNEL_OF_CANDIDATE, arrange
from evolake.jail.wire import frame

CANDIDATE_FILE = "<candidate>"
REPLY, READY_END = 3, 4
READY = b"confined"
MEMORY_OF_THE_MACHINE = (
    "SC_PHYS_PAGES",
    "SC_AVPHYS_PAGES",
    os.sysconf_names["SC_PHYS_PAGES"],
    os.sysconf_names["SC_AVPHYS_PAGES"],
)


class Ends(NamedTuple):
    """The descriptors of one call. ready: reports to the server whether the trusted part succeeded."""

    request: int
    channel: list[int]
    reply: int
    stdout: int
    stderr: int
    ready: int


def run(ends: Ends, limits: dict[str, Any], policy: seccomp.Policy, root: str) -> NoReturn:
    """Serve one call in this process and end it. Every descriptor but those of `ends` is closed. root: what
    it is to see as "/" ("" when that is the server's own). What fails in the trusted part is the jail's
    failure, never the candidate's.
    """
    ready = ends.ready
    try:
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        call = json.loads(os.pread(ends.request, os.fstat(ends.request).st_size, 0))
        channel = {
            CHANNEL_OF_CANDIDATE[0] + place: descriptor for place, descriptor in enumerate(ends.channel)
        }
        arrange({1: ends.stdout, 2: ends.stderr, REPLY: ends.reply, READY_END: ready, **channel})
        ready = READY_END
        module, _, function = call["driver"].partition(":")
        driver = getattr(importlib.import_module(module), function)
        random.seed(0)  # Python seeds it anew after a fork; see the server for numpy and torch
        confine(limits, policy, root)
        os.write(ready, READY)
        os.close(ready)
    except BaseException as error:
        os.write(ready, f"{type(error).__name__}: {error}".encode()[:4000])
        os._exit(1)
    try:
        speak(driver, call)
    finally:
        os._exit(1)


def speak(driver: Callable[[str, Any], Any], call: dict[str, Any]) -> NoReturn:
    """Run the driver, write the reply, end."""
    body = answer(driver, call["source"], call["payload"])
    with contextlib.suppress(
        Exception
    ):  # a candidate may have broken or closed its own streams; that is no news to anyone
        sys.stdout.flush()
        sys.stderr.flush()
    data = frame(call["nonce"], body)
    while data:
        data = data[os.write(REPLY, data) :]
    os._exit(0)


def confine(limits: dict[str, Any], policy: seccomp.Policy, root: str) -> None:
    """Root, capabilities, death with the server, limits, the filter. In that order: each forbids what comes
    before it.

    The filter refuses what asks for the machine's memory and load, so `os.sysconf` answers with the memory
    that this process may use.
    """
    gc.enable()
    if root:
        os.chroot(root)
        os.chdir("/tmp")
    kernel.drop_capabilities()
    own_pages = int(limits["memory_mb"] * kernel.MEBIBYTE) // resource.getpagesize()
    asked = os.sysconf
    os.sysconf = lambda name: own_pages if name in MEMORY_OF_THE_MACHINE else asked(name)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    kernel.set_limits(limits, above=kernel.mapped_before_any_candidate)
    seccomp.install(policy)


def answer(driver: Callable[[str, Any], Any], source: str, payload: Any) -> bytes:
    """Return the reply's body: what the driver returns, or what it raised."""
    try:
        return json.dumps({"status": "ok", "value": driver(source, payload)}, default=as_plain).encode()
    except BaseException as error:  # also SystemExit and KeyboardInterrupt: all are the candidate's
        with contextlib.suppress(Exception):
            traceback.print_exc()
        return json.dumps({"status": status_of(error), "reason": describe(error)}).encode()


def as_plain(value: Any) -> Any:
    """Return JSON of numpy and torch scalars and arrays."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a value of type {type(value).__name__} cannot be sent as JSON")


def status_of(error: BaseException) -> str:
    """Return "memory" for a failed allocation, "forbidden" for what the jail refused, "error" for the
    rest."""
    if isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
    ):
        return "memory"
    return "forbidden" if isinstance(error, PermissionError) else "error"


def describe(error: BaseException) -> str:
    """Return `Type: message at line n`, n counting in the candidate's source."""
    try:
        message = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:  # a hostile __str__
        message = ""
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == CANDIDATE_FILE else None
    for frame_summary, number in traceback.walk_tb(error.__traceback__):
        if frame_summary.f_code.co_filename == CANDIDATE_FILE:
            line = number
    text = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return text[:2000] + (f" at line {line}" if line else "")
