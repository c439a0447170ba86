"""A small repair study, run once by the command for all workers of a test run, and copied into each lake that
starts from it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from filelock import FileLock
from shared_folder import shared_folder

SMALL = ("--problems", "10", "--seeds", "1", "--perturbed", "2", "--transfer", "2")
"""Sizes of the study, as words of `evolake repair run`."""
PROGRAM = [sys.executable, "-c", "from evolake.cli import main; main()", "repair"]


def environment(lake: Path, **more: str) -> dict[str, str]:
    """Return this process's environment without settings of evolake's, with a lake and two workers."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EVOLAKE_")}
    return kept | {"EVOLAKE_LAKE": str(lake), "EVOLAKE_WORKERS": "2", "NO_PROXY": "127.0.0.1"} | more


def finished_study(lake: Path) -> dict[str, Any]:
    """Copy the finished study to `lake`, which must not exist; return what the command that ran it
    printed."""
    shared = shared_folder() / "repair"
    shared.mkdir(exist_ok=True)
    said = shared / "said.json"
    with FileLock(shared / "turn.lock"):
        if not said.exists():
            command = [*PROGRAM, "run", *SMALL, "--json"]
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, env=environment(shared / "lake")
            )
            assert (done.returncode, done.stderr) == (0, ""), done.stderr
            said.write_text(done.stdout)
    shutil.copytree(shared / "lake", lake, ignore=shutil.ignore_patterns("locks"))
    return json.loads(said.read_text())
