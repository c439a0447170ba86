"""The project stands as drawn: imports run one way, and nothing heavy is loaded before it is needed."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
HEAVY = (
    "torch",
    "z3",
    "pandas",
    "great_expectations",
    "matplotlib",
    "optuna",
    "numba",
    "scipy",
    "sqlalchemy",
    "alembic",
)
WORKING = (
    "numpy",
    "pyarrow",
    "pyarrow.dataset",
    "duckdb",
    "sqlite3",
    "openai",
    "pysat",
    "llvmlite",
    "radon",
    "complexipy",
    "tree_sitter",
    "trueskill",
    "cnfgen",
    "transformers",
    "peft",
    "trl",
    "datasets",
    "distributed",
    "zstandard",
    "tarfile",
    "concurrent.futures.process",
    "evolake.agents",
    "evolake.answers",
    "evolake.gates",
    "evolake.jail",
    "evolake.objectives",
    "evolake.plots",
    "evolake.report",
    "evolake.search",
    "evolake.seeds",
    "evolake.stats",
    "evolake.families.model.contract",
    "evolake.families.faults.injection",
    "evolake.prompts.evolution.iteration",
    "evolake.solvers.edits",
    "evolake.solvers.evolution.planning",
    "evolake.solvers.rules",
)
"""What only a materialization needs, beside HEAVY; benchmarks/import_time.py has what loading the definitions
costs."""


def test_imports_run_down_the_layers():
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]


def test_importing_the_definitions_loads_what_assets_are_and_nothing_they_do():
    program = "import sys, pipelines.definitions; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert sorted(loaded.intersection((*HEAVY, *WORKING))) == []
    assert (
        sorted(
            name
            for name in loaded
            if name.startswith("evolake.") and name.endswith(("role_models", ".population", ".cycle"))
        )
        == []
    )


@pytest.mark.parametrize(
    "module", ["evolake.cli", "evolake.gates", "evolake.lake", "evolake.jail", "evolake.agents"]
)
def test_importing_loads_nothing_heavy(module):
    program = f"import sys, {module}; print(sorted(set(sys.modules) & set({HEAVY!r})))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_definitions_are_policy_only():
    assert len((ROOT / "pipelines" / "definitions.py").read_text().splitlines()) < 60


def test_tracked_text_names_no_machine_path():
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    forbidden = (f"{ROOT}/", "/" + "root/", "/" + "home/", "pypi" + ".org", "files.pythonhosted" + ".org")
    result = []
    for name in tracked:
        path = ROOT / name
        if not path.is_file() or path.suffix in {".png", ".gz", ".parquet"}:
            continue
        text = path.read_text(errors="replace")
        result += [(name, word) for word in forbidden if word in text]
    assert result == []
