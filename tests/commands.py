"""An `evolake` command as a process would run it, in this one: a process takes seconds to begin, to import
what is imported here already.

What has to be a process is started as one: what is killed, what runs cycles, and once for each kind of
command, that it is found.
"""

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from evolake.cli import cli
from evolake.cli.ending import end


def evolake(
    *words: str | Path, environment: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """What the command printed and its exit code. environment: all variables that it has; by default those of
    this process."""
    typed = [str(word) for word in words]
    printed, said = (
        io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True) for _ in range(2)
    )
    with pytest.MonkeyPatch.context() as monkeypatch, redirect_stdout(printed), redirect_stderr(said):
        monkeypatch.setattr(sys, "argv", ["evolake", *typed])
        for name in os.environ.keys() - environment.keys() if environment is not None else ():
            monkeypatch.delenv(name)
        for name, value in (environment or {}).items():
            monkeypatch.setenv(name, value)
        if cwd is not None:
            monkeypatch.chdir(cwd)
        code = end(cli, typed)
    texts = [stream.buffer.getvalue().decode("utf-8").replace("\r\n", "\n") for stream in (printed, said)]  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(typed, code, *texts)


def evolake_apart(
    environment: Mapping[str, str], *commands: Sequence[str], cwd: Path | None = None
) -> list[subprocess.CompletedProcess[str]]:
    """What `evolake` gives for each command, all in one other process: one that can import what this one must
    not, or under another environment."""
    program = (
        "import commands, json; print(json.dumps([vars(commands.evolake(*words)) for words in "
        "json.loads(input())]))"
    )
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, [environment.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(commands),
        env={**environment, "PYTHONPATH": path},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [subprocess.CompletedProcess(**load) for load in json.loads(done.stdout)]
