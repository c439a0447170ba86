"""Follow one call from the outside (the wall clock, the output caps, the kill), and turn what was observed
into a typed status and one line of reason."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import time
from dataclasses import dataclass
from typing import Literal

from evolake.errors import JailUnavailable
from evolake.jail import wire
from evolake.jail.inside.watch import TOO_MUCH_MEMORY
from evolake.jail.process import JailDied, JailProcess, Report
from evolake.jail.protocol import Limits, Status
from evolake.jail.waiting import Clock, Waiting

GRACE_S = 10.0
"""How long the server may take to report after it was asked to kill. SIGKILL takes microseconds; only a
broken jail takes this long."""
CHUNK = 1 << 16

Cause = Literal["timeout", "output"]


@dataclass(frozen=True)
class Observation:
    """What was seen of one call: the server's report, the streams up to their caps, and why the supervisor
    stopped it (None: it did not).

    starved: it was stopped by the clock, though it waited for the host so long that it had less time than its
    limit.
    """

    report: Report
    streams: dict[str, bytes]
    cause: Cause | None
    wall_s: float
    starved: bool = False


class Stream:
    """The reading end of one pipe, and the writing end until it has been handed over."""

    def __init__(self, cap: int):
        self.cap = cap
        self.data = bytearray()
        self.reader, self.writer = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self.reader, False)

    def read(self) -> bool:
        """Take what is there, up to one byte past the cap. False at the end of the stream."""
        with contextlib.suppress(BlockingIOError):
            chunk = os.read(self.reader, min(CHUNK, self.cap + 1 - len(self.data)))
            self.data += chunk
            return bool(chunk)
        return True

    def read_rest(self) -> None:
        """Take what an ended process left in the pipe, up to one byte past the cap."""
        before = -1
        while before < len(self.data) <= self.cap:
            before = len(self.data)
            self.read()

    @property
    def over(self) -> bool:
        """Return whether more came than the cap allows."""
        return len(self.data) > self.cap

    def close(self) -> None:
        """Close both ends."""
        for end in (self.reader, self.writer):
            if end >= 0:
                os.close(end)
        self.reader = self.writer = -1

    def close_writer(self) -> None:
        """Close the end that is written to."""
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1


def observe(
    jail: JailProcess,
    message: dict,
    before: tuple[int, ...],
    streams: dict[str, Stream],
    limits: Limits,
    until: int | None = None,
    waiting: Waiting | None = None,
) -> Observation:
    """Send the request, with descriptors `before` and then the writing end of each stream in order; follow it
    to its end.

    until: the call is stopped when the other end of this pipe is closed. waiting: see `Call`.
    Raises JailDied when the jail ends or does not obey. Closes the streams; `before` stays the caller's.
    """
    waiting = waiting or Waiting()
    waiting.add(jail.server)
    started, clock = time.monotonic(), Clock(limits.wall_s, limits.stretch, waiting)
    selector = selectors.DefaultSelector()
    try:
        try:
            wire.send(jail.control, message, (*before, *(stream.writer for stream in streams.values())))
        except OSError as error:
            raise JailDied(str(error)) from None
        for stream in streams.values():
            stream.close_writer()
            selector.register(stream.reader, selectors.EVENT_READ, stream)
        selector.register(jail.control, selectors.EVENT_READ, None)
        if until is not None:
            selector.register(until, selectors.EVENT_READ, until)
        report, cause, starved = _follow(jail, selector, clock)
        wall = time.monotonic() - started
        for stream in streams.values():
            stream.read_rest()
            if stream.over:
                cause = cause or "output"
        return Observation(
            report,
            {name: bytes(stream.data[: stream.cap]) for name, stream in streams.items()},
            cause,
            wall,
            starved,
        )
    finally:
        selector.close()
        for stream in streams.values():
            stream.close()


def _follow(
    jail: JailProcess, selector: selectors.BaseSelector, clock: Clock
) -> tuple[Report, Cause | None, bool]:
    """(report, why it was stopped, whether the clock stopped it for the host's sake)."""
    cause: Cause | None = None
    starved, deadline = False, 0.0
    while True:
        left = clock.left_s() if cause is None else max(0.0, deadline - time.monotonic())
        ready = selector.select(left)
        for key, _ in ready:
            stream = key.data
            if stream is None:
                report, _ = wire.receive(jail.control)
                if report is None:
                    raise JailDied("the jail ended during a call")
                return report, cause, starved
            if isinstance(stream, int):
                selector.unregister(stream)
                cause, deadline = _stop(jail, cause or "timeout")
                continue
            if not stream.read() or stream.over:
                selector.unregister(stream.reader)
            if stream.over and cause is None:
                cause, deadline = _stop(jail, "output")
        if ready or left:
            continue
        if cause is not None:
            raise JailDied("the jail did not stop a call")
        starved = clock.starved
        cause, deadline = _stop(jail, "timeout")


def _stop(jail: JailProcess, cause: Cause) -> tuple[Cause, float]:
    try:
        wire.send(jail.control, {"op": "kill"})
    except OSError as error:
        raise JailDied(str(error)) from None
    return cause, time.monotonic() + GRACE_S


def judge(seen: Observation, limits: Limits) -> tuple[Status, str] | None:
    """Return status and reason of a candidate that was stopped, went past a limit or died; None for one that
    ended by itself within its limits.

    Raises JailUnavailable when the server says that the confinement itself failed: nothing was judged then.
    """
    refuse_broken(seen)
    if seen.cause == "timeout":
        return "timeout", late(seen, limits)
    if seen.cause == "output":
        return "output", f"wrote more than {limits.output_bytes} bytes"
    if excess := seen.report["excess"]:
        if excess.startswith(TOO_MUCH_MEMORY):
            return "memory", excess
        return ("output" if excess.endswith("files") else "forbidden"), excess
    if seen.report.get("out_of_memory"):
        return "killed", "the kernel ended it because memory was short beyond its own limit"
    cpu_s, number = seen.report["cpu_s"], seen.report["signal"]
    if (
        cpu_s > limits.cpu_s or number == signal.SIGXCPU
    ):  # the kernel's clock for that signal runs a little ahead of its final sum
        return "cpu", f"used more than {limits.cpu_s:g} s of processor time"
    if number == signal.SIGXFSZ:
        return "output", f"wrote a file larger than {limits.file_mb} MiB"
    if number == signal.SIGSYS:
        return "forbidden", "made a system call of a foreign architecture"
    if number is not None:
        return "killed", f"died by {signal_name(number)}"
    return None


def late(seen: Observation, limits: Limits) -> str:
    """Return the reason for a run that the clock ended. It has no measured time in it, so that a busy host
    does not change it."""
    if seen.starved:
        return (
            f"ended by the clock although the host was too busy to let it run for {limits.wall_s:g} s: "
            "nothing is known of it"
        )
    idle = seen.report["cpu_s"] < limits.wall_s / 2
    return f"still running after {limits.wall_s:g} s of wall clock" + (
        ", most of which it slept or waited" if idle else ""
    )


def refuse_broken(seen: Observation) -> None:
    """Raise JailUnavailable when the server says that the confinement itself failed."""
    if broken := seen.report.get("broken"):
        raise JailUnavailable(
            "the jail could not confine a candidate, so it was not run", got=broken, do="run `evolake doctor`"
        )


def signal_name(number: int) -> str:
    """Return SIGSEGV for 11, and so on; the number where it has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
