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
COMMAND = re.compile(
    r"^\$ (?P<command>[^#\n]+?)(?:  # exit code (?P<code>\d+))?\n(?P<output>(?:(?!\$ ).*\n)*)", re.MULTILINE
)
SHOWN = [
    pytest.param(block, id=block.split("\n", 1)[0].removeprefix("$ "))
    for block in re.findall(
        r"^```console\n(.*?)^```", (EXAMPLES / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )
]


@pytest.fixture
def run(tmp_path):
    """Runs a line in a copy of examples/, with nothing of this machine's own settings."""
    folder = shutil.copytree(EXAMPLES, tmp_path / "examples")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EVOLAKE_")}
    environment = kept | {
        "EVOLAKE_LAKE": str(tmp_path / "lake"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }

    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command.split(), cwd=folder, env=environment, capture_output=True, text=True, check=False
        )

    return run


def without_times(text: str) -> str:
    """The text with figures of speed and time blotted out, which no two runs share."""
    return re.sub(r"[\d.,]+( steps/s| s\b)", r"#\1", text)


@pytest.mark.parametrize("block", SHOWN)
def test_a_block_shows_what_its_commands_print(block, run):
    shown = [
        (result["command"], int(result["code"] or 0), result["output"]) for result in COMMAND.finditer(block)
    ]
    assert len(shown) == block.count("$ ")
    for command, code, output in shown:
        done = run(command)
        assert (command, done.returncode, without_times(done.stdout)) == (
            command,
            code,
            without_times(output),
        ), done.stderr


def test_the_question_can_be_asked_of_any_lake(run):
    done = run("evolake sql --file questions/who_helps.sql -p line=families --json")
    empty = {"verdict": "ok", "columns": ["title", "artifact_id", "accepted_descendants"], "rows": []}
    assert (done.returncode, json.loads(done.stdout)) == (0, empty), done.stderr


def test_the_code_cells_of_the_notebook_run_one_after_the_other_in_one_process(run, tmp_path):
    """In a plain process, without Jupyter, which is no dependency: a notebook's code cells are Python."""
    notebook = json.loads((EXAMPLES / "programs" / "evolve.ipynb").read_text())
    assert (
        notebook["nbformat"],
        [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"],
    ) == (4, [[]] * 4)
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    (tmp_path / "examples" / "cells.py").write_text("\n".join(cells))
    done = run(f"{sys.executable} cells.py")
    assert done.returncode == 0, done.stderr
    score, initial = (
        float(result)
        for result in re.findall(r"held-out score ([\d.]+) .* program's ([\d.]+)", done.stdout)[0]
    )
    assert 0 < initial <= score and "def curve(x):" in done.stdout
    assert (
        sum(map(int, re.findall(r"┆ (?:accepted|blocked|champion|retired) +┆ (\d+)", done.stdout))) >= 12
    ), done.stdout
