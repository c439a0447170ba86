"""The referee's variants before anything is built: what the rules on added code say of the bad ones, and
nothing of the good ones."""

from pathlib import Path

import pytest
import solver_referee as referee
from solver_gates import GatesProject, open_project
from solver_referee import Trial, plant
from solver_referee_good import GOOD

BY_CODE = {
    "limits-tell-the-stage": "solvers-no-clocks",
    "file-tells-the-stage": "solvers-no-clocks",
    "timer-restarts": "solvers-no-clocks",
    "time-bomb": "solvers-no-clocks",
    "words-beside-environment": "solvers-no-compiler-internals",
    "flags-in-source": "solvers-same-compiler",
    "unpacked-by-make": "solvers-only-sources",
}
TRIALS = {trial.name: trial for trial in referee.FIXED}


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> GatesProject:
    return open_project(tmp_path_factory.mktemp("referee"))


def blocked(trial: Trial, project: GatesProject) -> str | None:
    folder: Path = project.copy(trial.base, trial.name)
    plant(trial, folder)
    verdict = project.judge(folder, trial.base, stop_at="compliance").blocked_by
    return verdict.rule_id if verdict else None


@pytest.mark.parametrize("name", BY_CODE)
def test_a_bad_variant_is_blocked_before_it_is_built(name, project):
    assert blocked(TRIALS[name], project) == BY_CODE[name]


@pytest.mark.parametrize("trial", GOOD, ids=lambda trial: trial.name)
def test_nothing_is_said_of_a_good_variant(trial, project):
    assert blocked(trial, project) is None
