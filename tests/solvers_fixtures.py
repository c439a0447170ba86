"""A small solvers line that tests run for real: one seed, a handful of formulas whose proofs are short, two
variants a cycle.

The seed's sources are fetched from the package index that pip uses. Where no compiler is, or no index can be
reached, the tests are skipped by name, and fail under EVOLAKE_REQUIRE_ALL=1.
"""

import json
import os
import shutil
from pathlib import Path

import designs_fixtures
import pytest
from designs_fixtures import ROOT, Project
from re_execution import killed_when
from solver_seed_builds import bring_seed

from evolake.errors import MachineryError
from pipelines.home import ensure_home

SEED = "minisat22"
SMALL = {
    "EVOLAKE_SOLVERS__SEEDS": f'["{SEED}"]',
    "EVOLAKE_SOLVERS__VARIANTS_PER_CYCLE": "2",
    "EVOLAKE_SOLVERS__TIMEOUT_S": "2",
    "EVOLAKE_SOLVERS__TRAIN_SUITE": "small-train",
    "EVOLAKE_SOLVERS__HOLDOUT_SUITE": "small-holdout",
    "EVOLAKE_SOLVERS__TRAIN_INSTANCES": "6",
    "EVOLAKE_SOLVERS__HOLDOUT_INSTANCES": "2",
    "EVOLAKE_SOLVERS__HOLDOUT_REPEATS": "1",
    "EVOLAKE_SOLVERS__SMOKE_INSTANCES": "12",
    "EVOLAKE_SOLVERS__CHALLENGERS": "1",
    "EVOLAKE_SOLVERS__PAIRS": "1",
    "EVOLAKE_SOLVERS__CARRY_INSTANCES": "2",
}


def open_project(folder: Path, **settings: str) -> Project:
    """A project under `folder` with seeds of its own, the small suites among them, whose lake holds the
    seed's sources and its program.

    settings: further environment variables.
    """
    if not (shutil.which("g++") or shutil.which("clang++")):
        _absent("no C++ compiler is installed; `evolake doctor` names the line that installs it")
    seeds = folder / "seeds"
    shutil.copytree(ROOT / "data_lake" / "seeds", seeds)
    shutil.copytree(Path(__file__).with_name("small_suites"), seeds / "suites", dirs_exist_ok=True)
    project = designs_fixtures.open_project(folder, **{"EVOLAKE_SEEDS": str(seeds)} | SMALL | settings)
    ensure_home(Path(project.environment["DAGSTER_HOME"]))
    try:
        bring_seed(SEED, project.lake)
    except MachineryError as error:
        _absent(f"the seed cannot be fetched: {error}")
    return project


def share_proofs(project: Project, other: Project) -> None:
    """Gives a lake that is still empty the verdicts on proofs of a project, which are kept by the content of
    formula and proof: a proof that is written again is not checked again."""
    proofs = Path("work") / "solvers" / "proofs"
    shutil.copytree(project.lake / proofs, other.lake / proofs, ignore=shutil.ignore_patterns("locks"))


def killed_when_journal_begins(project: Project, stage: str, cycle: str) -> tuple[str, list[dict]]:
    """Starts a run of the cycle and kills it and all that it started (SIGKILL) once the stage's new journal
    holds a line; gives the run's id and that journal."""
    folder = project.lake / "work" / "solvers" / "journals"
    before = set(folder.glob(f"{stage}-*.jsonl"))

    def begun() -> list[dict] | None:
        fresh = [
            path
            for path in sorted(set(folder.glob(f"{stage}-*.jsonl")) - before)
            if b"\n" in path.read_bytes()
        ]
        return journal(fresh[0]) if fresh else None

    return killed_when(project, "solvers", cycle, begun)


def journal(path: Path) -> list[dict]:
    """The whole lines of a journal."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def _absent(message: str) -> None:
    if os.environ.get("EVOLAKE_REQUIRE_ALL") == "1":
        pytest.fail(message)
    pytest.skip(message)
