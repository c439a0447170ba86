"""Searches over literals: the built-in ones and those of an installed package do what the kit asks, and their
candidates are checked, and judged in the jail within the budget."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from programs_fixtures import OWN, apart, rules
from search_kit import PROGRAM, conforms

from evolake import settings as settings_module
from evolake.errors import InputError, MachineryError
from evolake.lake import BlobStore
from evolake.programs.evolution.budgeted_search import BudgetedEvaluator, SearchSetup, SearchState, continued
from evolake.programs.search.searches import BUILT_IN, Literals, search_named, search_names

SOURCE = Path(__file__).parents[2] / "toy_search"


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """A folder that the package was installed into, as pip does it."""
    folder = tmp_path_factory.mktemp("toy")
    shutil.copytree(SOURCE, folder / "source")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    command = [*pip, "--target", str(folder / "installed"), str(folder / "source")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "installed"


@pytest.fixture
def toy(installed, monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(installed))


@pytest.mark.parametrize("name", list(BUILT_IN))
def test_a_built_in_search_does_what_the_kit_asks(name):
    conforms(search_named(name))


def test_an_installed_package_registers_a_search_which_does_what_the_kit_asks(toy):
    assert search_names() == [*BUILT_IN, "broken", "doubling", "wrong"]
    conforms(search_named("doubling"))


def searched(name: str, folder: Path, most: int) -> tuple[SearchState, list[SearchState]]:
    """How far a search comes with so many evaluations, from a program that is 3 too large."""
    project = apart(
        "def double(x):\n    return 8.0 * x\n",
        "def cases(seed):\n    return [1.0]\n\n\ndef score(cases, results):\n"
        "    return {'combined_score': -abs(results[0]['output'] - 2.0)}\n",
    )
    noted: list[SearchState] = []
    evaluator = BudgetedEvaluator(project, OWN, workers=2, mode=None, most=most)
    with evaluator:
        setup = SearchSetup(project, OWN, evaluator, {"score": -6.0}, rules(), BlobStore(folder), 1, 2)
        end = continued(setup, name, SearchState(project.evolving, -6.0), "0001", noted.append)
    return end, noted


def test_its_candidates_are_judged_in_the_jail_until_the_budget_is_spent_or_it_ends(toy, tmp_path):
    end, noted = searched("doubling", tmp_path, 20)
    assert end.score == 0.0 and "return 2.0 * x" in end.texts["initial_program.py"]
    assert 0 < end.evaluations < 20 and noted[-1] == end
    short, _ = searched("doubling", tmp_path, 2)
    assert (short.score, short.evaluations) == (-2.0, 2)


def test_what_is_no_candidate_is_an_error_that_names_the_search(toy, tmp_path):
    with pytest.raises(MachineryError, match="the search 'wrong' asked for what is no candidate") as found:
        searched("wrong", tmp_path, 5)
    assert "a finite number" in str(found.value)
    literals = Literals(PROGRAM)
    good = list(literals.space.values)
    for bad in (good[:-1], [*good[:2], 1, *good[3:]], ["x", *good[1:]], [float("inf"), *good[1:]]):
        with pytest.raises(MachineryError, match="no candidate"):
            literals.program(bad)
    assert literals.program(good) == PROGRAM


def test_a_search_that_cannot_be_used_ends_a_run_before_it_begins(installed, toy, tmp_path):
    with pytest.raises(InputError, match="cannot be loaded"):
        search_named("broken")
    project = SOURCE.parents[1] / "examples" / "programs" / "circle_packing"
    places = {"EVOLAKE_LAKE": str(tmp_path / "lake"), "EVOLAKE_PROGRAMS__PROJECTS": str(project)}
    done = subprocess.run(
        [sys.executable, "-c", "from evolake.cli import main; main()", "run", "programs"],
        env=os.environ
        | places
        | {"EVOLAKE_PROGRAMS__SEARCHES": "hill, nosuch", "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "there is no search 'nosuch'" in done.stderr and "hill, restart, cma, de, broken" in done.stderr


@pytest.mark.parametrize("searches", ["", " , ", "hill,hill"])
def test_no_search_or_one_twice_is_refused_before_anything_runs(searches, monkeypatch):
    monkeypatch.setenv("EVOLAKE_PROGRAMS__SEARCHES", searches)
    with pytest.raises(InputError, match="at least one search, and each once"):
        settings_module.load()
