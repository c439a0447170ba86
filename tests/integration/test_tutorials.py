"""Tutorials that end in something of the reader's own: each part is typed as written, in a new folder."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
LEFT = ("my-program/README.md", "my-tuning/tune.md", "my_design.py", "my-plan.json")
BLOCKS = re.findall(
    r"^```sh\n(.*?)^```", (TUTORIALS / "ten-minutes.md").read_text(), re.MULTILINE | re.DOTALL
)
FAMILY = re.findall(r"^    (.+\n)", (TUTORIALS / "first-family.md").read_text(), re.MULTILINE)
PARTS = dict(zip(LEFT, BLOCKS, strict=True)) | {"dataset/reward.py": "".join(FAMILY)}
"""What a part leaves -> its lines."""
CODES = {"my-tuning/tune.md": (0, 1), "my-plan.json": (1,)}
"""Exit codes of parts whose last command judges."""


@pytest.mark.parametrize("left", PARTS)
def test_a_part_runs_as_it_is_written_and_leaves_what_it_promises(left, tmp_path):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EVOLAKE_")}
    own = {
        "EVOLAKE_LAKE": str(tmp_path / "lake"),
        "DAGSTER_HOME": str(tmp_path / "home"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    began = time.monotonic()
    done = subprocess.run(
        ["bash", "-euo", "pipefail"],
        input=PARTS[left],
        cwd=tmp_path,
        env=kept | own,
        capture_output=True,
        text=True,
        check=False,
    )
    print(f"{left}: {time.monotonic() - began:.0f} s\n{done.stdout}")
    assert done.returncode in CODES.get(left, (0,)), done.stdout + done.stderr
    assert (tmp_path / left).is_file()
