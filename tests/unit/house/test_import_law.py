"""The house stands as drawn: imports run one way, and nothing heavy is loaded before it is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
HEAVY = ("torch", "z3", "pandas", "great_expectations", "matplotlib", "optuna", "numba", "scipy")


def test_imports_run_down_the_house():
    done = subprocess.run([Path(sys.executable).with_name("lint-imports"), "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize("module", ["pipelines.definitions", "evolake.cli", "evolake.gates", "evolake.lake", "evolake.jail", "evolake.agents"])
def test_importing_loads_nothing_heavy(module: str):
    program = f"import sys, {module}; print(sorted(set(sys.modules) & set({HEAVY!r})))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_definitions_are_policy_only():
    assert len((ROOT / "pipelines" / "definitions.py").read_text().splitlines()) < 60


def test_tracked_text_names_no_machine_path():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    forbidden = (f"{ROOT}/", "/" + "root/", "/" + "home/", "pypi" + ".org", "files.pythonhosted" + ".org")
    found = []
    for name in tracked:
        path = ROOT / name
        if not path.is_file() or path.suffix in {".png", ".gz", ".parquet"}:
            continue
        text = path.read_text(errors="replace")
        found += [(name, word) for word in forbidden if word in text]
    assert found == []
