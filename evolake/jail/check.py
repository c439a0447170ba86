"""What `evolake doctor` says about the jail."""

from __future__ import annotations

import platform

from evolake.errors import EvolakeError
from evolake.jail import bubblewrap, canary, groups
from evolake.jail.backends import Backend, backend
from evolake.jail.direct import DirectRun, run_direct
from evolake.jail.inside import syscalls
from evolake.jail.native import NativeRun, run_native
from evolake.jail.pool import Pool
from evolake.jail.protocol import Limits

FORKING = DirectRun(["/bin/sh", "-c", "(echo forked); exit 0"])


def check_jail(mode: str | None = None) -> list[tuple[str, bool, str]]:
    """Return (name, ok, detail) of each thing that the jail of `mode` needs, ending with the canary's
    attempts. Raises nothing for a broken jail."""
    chosen = backend(mode)
    rows = [("architecture", syscalls.supported(), platform.machine())]
    if chosen.mode == "bubblewrap":
        try:
            rows.append(("bubblewrap", True, str(bubblewrap.find())))
        except EvolakeError as error:
            return [*rows, ("bubblewrap", False, str(error))]
        obstacles = bubblewrap.obstacles()
        rows.append(("namespaces", not obstacles, "; ".join(obstacles) or "allowed by the kernel's settings"))
    else:
        missing = sorted(type(chosen).python_guarantees ^ backend("bubblewrap").python_guarantees)
        rows.append(("mode", True, f"rlimits is the weaker jail; it does not hold: {', '.join(missing)}"))
    try:
        with Pool(chosen, workers=1, preload=()) as pool:
            attempts = canary.prove(chosen, pool.run)
    except EvolakeError as error:
        return [*rows, ("canary", False, str(error))]
    rows += [(f"canary: {attempt}", held, detail) for attempt, held, detail in attempts]
    try:
        tried = run_direct(FORKING, mode=chosen.mode)
    except EvolakeError as error:
        return [*rows, ("native program", False, str(error))]
    try:
        rows.append(("memory of a whole run", True, _memory(chosen)))
    except EvolakeError as error:
        return [*rows, ("memory of a whole run", False, str(error))]
    held = tried.status == "ok" and tried.exit_code not in (0, None) and tried.stdout == b""
    return [
        *rows,
        (
            "native program: fork",
            held,
            tried.stderr.decode(errors="replace").strip() or tried.reason or "it succeeded",
        ),
    ]


def _memory(chosen: Backend) -> str:
    """Return what holds `Limits.total_mb`, and where it is the watch alone, why. Raises JailUnavailable if
    nothing can be run."""
    if not chosen.counts_processes:
        return "not needed: this mode runs no program that makes processes"
    alone = "held by the supervisor's sum alone, which looks every few milliseconds; no control group: "
    if why := groups.obstacle():
        return alone + why
    seen = run_native(
        NativeRun(["/bin/sh", "-c", "exec cat /proc/self/cgroup"]),
        limits=Limits(processes=1),
        mode=chosen.mode,
    ).stdout.decode()
    if not any(line.endswith(f"/{groups.RUN}") for line in seen.splitlines()):
        return f"{alone}a program did not get into its group"
    place = groups.find()
    assert isinstance(place, groups.Place)
    return (
        f"held by the kernel in a control group (version {place.version}, {place.folder}), and by the "
        "supervisor's sum"
    )
