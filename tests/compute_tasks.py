"""Tasks that tests give to workers: functions of a module that a worker can import."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from evolake.compute import trusted


def place(number: int) -> tuple[int, int, str]:
    """The argument, the process and the lake that it works on."""
    return number, os.getpid(), os.environ["EVOLAKE_LAKE"]


@trusted
def answer() -> int:
    return 42


@trusted
def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@trusted
def die_once(flag: str) -> str:
    """Kills its worker, unless `flag` says that it did so before."""
    try:
        Path(flag).touch(exist_ok=False)
    except FileExistsError:
        with Path(flag).open("a") as file:
            file.write("done\n")
        return "done"
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("it lives")
