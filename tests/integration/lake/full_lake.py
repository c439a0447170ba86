"""Types commands at a lake that cannot be written, and prints what each ends with and whether doctor finds
room. Run in a mount namespace of its own.

    full_lake.py DISK full|read-only|limited OTHER

DISK: an empty small disk, which gets the lake. OTHER: a folder elsewhere. limited: no file may be written at
all, where mounting is forbidden.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import commands
from lake_damage import toy_lake

from evolake.cli.doctor import _writable


def fill(path: Path) -> None:
    """Writes until not one byte more fits."""
    size = 1 << 16
    with path.open("wb", buffering=0) as file:
        while size:
            try:
                file.write(b"x" * size)
            except OSError:
                size //= 2


def contents(lake: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(lake)): path.read_bytes() for path in sorted(lake.rglob("*")) if path.is_file()
    }


def main(disk: Path, how: str, other: Path) -> None:
    lake = toy_lake(disk)
    commands.evolake("status", environment={"EVOLAKE_LAKE": str(lake), "PATH": os.environ["PATH"]})
    before = contents(lake)
    if how == "full":
        fill(disk / "filler")
    elif how == "read-only":
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    else:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    environment = {"EVOLAKE_LAKE": str(lake), "DAGSTER_HOME": str(other), "PATH": os.environ["PATH"]}
    details = {}
    for words in (
        ["status"],
        ["guide", "prefer short proofs"],
        ["report", "--out", str(disk / "report.html")],
        ["run", "--cycles", "1", "--lines", "designs", "--profile", "demo"],
    ):
        done = commands.evolake(*words, environment=environment)
        details[words[0]] = [done.returncode, done.stdout, done.stderr]
    details["there is room"] = _writable("lake folder", lake).ok
    details["lake as before"] = before.items() <= contents(lake).items()
    os.write(1, json.dumps(details).encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
