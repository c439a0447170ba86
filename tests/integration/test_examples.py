"""The commands of examples/README.md do what stands below them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMAND = re.compile(r"^\$ (?P<command>[^#\n]+?)(?:  # exit code (?P<code>\d+))?\n(?P<output>(?:(?!\$ ).*\n)*)", re.MULTILINE)
SHOWN = [
    pytest.param(block, id=block.split("\n", 1)[0].removeprefix("$ "))
    for block in re.findall(r"^```console\n(.*?)^```", (EXAMPLES / "README.md").read_text(), re.MULTILINE | re.DOTALL)
]


@pytest.fixture
def run(tmp_path):
    """Runs a line in a copy of examples/, with nothing of this machine's own settings."""
    folder = shutil.copytree(EXAMPLES, tmp_path / "examples")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EVOLAKE_")}
    environment = kept | {"EVOLAKE_LAKE": str(tmp_path / "lake"), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}

    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command.split(), cwd=folder, env=environment, capture_output=True, text=True, check=False)

    return run


def without_times(text: str) -> str:
    """The text with figures of speed and time blotted out, which no two runs share."""
    return re.sub(r"[\d.,]+( steps/s| s\b)", r"#\1", text)


@pytest.mark.parametrize("block", SHOWN)
def test_a_block_shows_what_its_commands_print(block, run):
    shown = [(found["command"], int(found["code"] or 0), found["output"]) for found in COMMAND.finditer(block)]
    assert len(shown) == block.count("$ ")
    for command, code, output in shown:
        done = run(command)
        assert (command, done.returncode, without_times(done.stdout)) == (command, code, without_times(output)), done.stderr


def test_the_question_can_be_asked_of_any_lake(run):
    done = run("evolake sql --file questions/who_helps.sql -p line=families --json")
    empty = {"verdict": "ok", "columns": ["title", "artifact_id", "accepted_descendants"], "rows": []}
    assert (done.returncode, json.loads(done.stdout)) == (0, empty), done.stderr
