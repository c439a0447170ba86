"""The two ways to build a jail, behind one protocol: a command line that starts the fork server in it.

`bubblewrap` is the jail. `rlimits` runs the same server, limits and system call filter on the host itself; it
is the weaker mode, only used when asked for by name, and it says in `*_guarantees` what it does not hold.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import evolake
from evolake.errors import InputError
from evolake.jail import bubblewrap, identity, launching
from evolake.jail.bubblewrap import View
from evolake.jail.identity import interpreter
from evolake.jail.protocol import JAIL_MODES, JailMode

GUARANTEES = frozenset(
    {
        "secrets",
        "environment",
        "network",
        "writes",
        "leftovers",
        "processes",
        "parent",
        "host-processes",
        "devices",
        "clock",
        "memory",
        "cpu",
        "wall",
        "output",
        "file-size",
        "reply",
        "programs",
        "counters",
    }
)
"""secrets: no file of the host but the system and the interpreter is readable. environment: the caller's
variables are not. network: no socket. writes: nothing outside its own folder can be changed. leftovers: no
file reaches the next candidate. processes: none that outlive or multiply. parent: the server cannot be
signalled, traced, or spoken for. host-processes: none is seen. devices, clock: untouched. programs: nothing
can be executed but what its kind of candidate needs. counters: no number that one candidate advances can be
read by the next. The rest: limits hold, and a bad reply harms nobody."""

SERVER = ("-S", "-s", "-P", "-B", "-m", "evolake.jail.inside.server")


ONE_WAY = {
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
}
"""Variables that make Python compute the same in each process: the order of sets, and one thread a library,
since the pool is the parallelism."""


@dataclass(frozen=True)
class Command:
    """How to start a fork server. folder: where a native program works, as the server sees it ("" when there
    is none). descriptors: to be passed on next to the control socket, and closed then. root: of a native
    program, as the server sees it ("" when it is the server's own)."""

    argv: tuple[str, ...]
    environment: dict[str, str]
    folder: str
    descriptors: tuple[int, ...] = ()
    root: str = ""


class Backend(Protocol):
    """One way to confine. The conformance kit holds every backend to the guarantees that it declares."""

    mode: JailMode
    python_guarantees: frozenset[str]
    counts_processes: bool
    """Whether a native program may be given processes: only where a namespace holds them all, and one signal
    ends them all."""

    def command(
        self,
        control: int,
        *,
        scratch_mb: int,
        host_folder: Path | None,
        box: list[str] | None = None,
        view: View = View(),
    ) -> Command:
        """Return the command that starts a server on descriptor `control`. scratch_mb > 0: of native
        programs, with a private folder of that size to write in; 0: of Python candidates. box: options for
        the program's own root, if the backend has such. view: what else it sees; the program has the root of
        a Python candidate if it has neither a box nor a /proc.

        Raises JailUnavailable when the machine cannot do it.
        """
        ...


def server_environment(home: str, packages: tuple[str, ...] = ()) -> dict[str, str]:
    """Return everything the server and every candidate see of an environment. packages: as of a View."""
    return ONE_WAY | {
        "PATH": "/usr/bin:/bin",
        "HOME": home,
        "USER": "nobody",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONPATH": os.pathsep.join([*packages, *interpreter()[1]]),
        "TORCHINDUCTOR_CACHE_DIR": "/tmp",
        "MPLBACKEND": "agg",
    }


class Bubblewrap:
    """Separate namespaces for everything, a read-only system, no network."""

    mode: JailMode = "bubblewrap"
    python_guarantees = GUARANTEES
    counts_processes = True

    def command(
        self,
        control: int,
        *,
        scratch_mb: int,
        host_folder: Path | None,
        box: list[str] | None = None,
        view: View = View(),
    ) -> Command:
        """Return the command that starts a server in bubblewrap; see `Backend.command`."""
        python, folders = interpreter()
        environment = server_environment("/tmp", view.packages)
        package = Path(evolake.__file__).resolve().parent
        program, number = str(bubblewrap.find()), identity.drawn()
        users = () if number is None else launching.launcher().user_namespaces(number)
        if not scratch_mb or (box is None and not view.proc):
            box, view = bubblewrap.python_box(python, folders, package), replace(view, proc=False)
        confine = bubblewrap.arguments(
            python,
            folders,
            package=package,
            environment=environment,
            scratch_mb=scratch_mb,
            box=box,
            view=view,
            namespaces=bubblewrap.own_namespaces(number, *(users or (-1, -1))),
        )
        argv = (
            program,
            *confine,
            "--",
            python,
            *SERVER,
            str(control),
            "programs" if scratch_mb else "candidates",
        )
        return Command(
            argv, {}, bubblewrap.WORK if scratch_mb else "", users, "" if box is None else bubblewrap.BOX
        )


class Rlimits:
    """Limits and the system call filter only: the host's files can be read, and a native program can write
    where its user can."""

    mode: JailMode = "rlimits"
    python_guarantees = GUARANTEES - {"secrets", "environment", "host-processes", "devices", "counters"}
    counts_processes = False

    def command(
        self,
        control: int,
        *,
        scratch_mb: int,
        host_folder: Path | None,
        box: list[str] | None = None,
        view: View = View(),
    ) -> Command:
        """Return the command that starts a server under limits alone; see `Backend.command`."""
        python, _ = interpreter()
        home = str(host_folder) if host_folder else "/nonexistent"
        return Command(
            (python, *SERVER, str(control), "host"),
            server_environment(home, view.packages),
            home if host_folder else "",
        )


BACKENDS: dict[JailMode, Backend] = {"bubblewrap": Bubblewrap(), "rlimits": Rlimits()}


def backend(mode: str | None) -> Backend:
    """Return the backend of `mode`; None means the setting `jail` (EVOLAKE_JAIL). There is no silent
    fall-back from one to the other."""
    if mode is None:
        from evolake.settings import chosen_profile

        mode = _asked_for(
            chosen_profile()[0],
            frozenset(item for item in os.environ.items() if item[0].upper().startswith("EVOLAKE_")),
        )
    if mode not in BACKENDS:
        raise InputError(
            f"no jail named {mode!r}",
            wanted=f"one of {', '.join(JAIL_MODES)}",
            do="fix EVOLAKE_JAIL or the argument",
        )
    return BACKENDS[mode]


@lru_cache(maxsize=16)
def _asked_for(profile: str, environment: frozenset[tuple[str, str]]) -> JailMode:
    """Return the setting `jail` under the variables `environment`: a solver run may take less time than
    reading all settings again for it."""
    from evolake.settings import load

    return load(profile).jail
