"""Turn what the supervisor observed into a typed status and one line of reason."""

from __future__ import annotations

import signal

from evolake.errors import JailUnavailable
from evolake.jail.inside.watch import TOO_MUCH_MEMORY
from evolake.jail.protocol import Limits, Status
from evolake.jail.supervise import Observation


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
