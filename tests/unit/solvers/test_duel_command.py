"""`evolake solvers duel`: two repositories, pass by pass until it is decided, with an exit code that says
whether the second is better."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from solver_fixtures import ADAPTER, answering

from evolake.contest import cost_ratio
from evolake.errors import InputError
from evolake.solvers.commands import solvers

SLOW, FAST = 30_000_000, 1
FORMULAS = 9


@pytest.fixture
def project(tmp_path, monkeypatch, requires) -> Path:
    """A lake, the adapter `toy`, a folder of nine formulas, and three solvers."""
    requires("c++")
    adapters = tmp_path / "seeds" / "solvers" / "adapters"
    adapters.mkdir(parents=True)
    (adapters / "toy.toml").write_text(ADAPTER)
    for number, clauses in enumerate(
        itertools.islice(itertools.combinations(("1 2", "-1", "2", "-1 2", "-1 -2"), 2), FORMULAS)
    ):
        family = tmp_path / "formulas" / ("even" if number % 2 == 0 else "odd")
        family.mkdir(parents=True, exist_ok=True)
        (family / f"f{number}.cnf").write_text("p cnf 2 2\n" + "".join(f"{clause} 0\n" for clause in clauses))
    (tmp_path / "formulas" / "cut.cnf").write_text("p wcnf 1 1 1\n1 1 0\n")
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    monkeypatch.setenv("EVOLAKE_SEEDS", str(tmp_path / "seeds"))
    monkeypatch.setenv("EVOLAKE_PROFILE", "demo")
    for name, rounds in (("slow", SLOW), ("fast", FAST), ("wrong", FAST)):
        folder = tmp_path / name
        (folder / "src").mkdir(parents=True)
        (folder / "src" / "main.cc").write_text(
            answering("1 2" if name == "wrong" else "-1 2", rounds=rounds)
        )
        (folder / "src" / "LICENSE").write_text("MIT\n")
        (folder / "variant.toml").write_text('base = "toy"\nadapter = "toy"\n')
    return tmp_path


def duel(project: Path, champion: str, challenger: str, *options: str) -> Result:
    paths = [
        str(project / champion),
        str(project / challenger),
        "--suite",
        str(project / "formulas"),
        "--adapter",
        "toy",
    ]
    return CliRunner().invoke(solvers, ["duel", *paths, *options], standalone_mode=False)


def test_a_faster_solver_is_better_after_one_pass_and_a_slower_one_is_worse(project):
    result = duel(project, "slow", "fast", "--json")
    said = json.loads(result.stdout)
    assert (result.return_value, said["verdict"], said["decision"]["pairs"]) == (0, "better", 1), (
        result.output
    )
    assert said["decision"]["ratio_low"] > 1 and said["decision"]["formulas"] == FORMULAS
    assert said["helped"]["gained"] == FORMULAS and 0.6 < said["helped"]["probability"][1] < 1
    assert [(row["family"], row["formulas"], row["gained"], row["lost"]) for row in said["families"]] == [
        ("even", 5, 5, 0),
        ("odd", 4, 4, 0),
    ]
    assert said["families"][0]["probability"][0] == 1 and 0.5 < said["families"][0]["probability"][1] < 0.6
    assert "MaxSAT" in said["remarks"][0]
    back = duel(project, "fast", "slow")
    assert back.return_value == 1
    assert "limits: 0.25 s a run (--timeout)" in back.stderr
    assert "9 formulas show a cost ratio from" in back.stderr and "cost of " in back.stdout
    assert "geometric mean: " in back.stdout and "; PAR-2 " in back.stdout
    assert "9 formulas, at most 3 passes of both: at most 0.00375 processor hours" in back.stderr
    assert "odd: 4 formulas, solved 4 and 4, PAR-2" in back.stdout
    assert (
        "costs less on 0 of 4 formulas and more on 4; on a new formula like these it helps with "
        "probability 0.00" in back.stdout
    )
    assert (
        f"{project / 'slow'} is worse than {project / 'fast'}" in back.stdout
        and "left out cut.cnf" in back.stdout
    )


def test_a_solver_whose_answers_are_refuted_is_not_better(project):
    result = duel(project, "slow", "wrong", "--json", "--passes", "1")
    said = json.loads(result.stdout)
    assert (result.return_value, said["decision"]["wins"]) == (1, False)
    assert "refuted" in said["decision"]["reason"] or "solves" in said["decision"]["reason"]


def test_too_few_formulas_decide_nothing_and_all_passes_are_made_once(project):
    journal = project / "pairs.jsonl"
    options = ("--instances", "3", "--passes", "2", "--journal", str(journal))
    first = duel(project, "slow", "fast", *options)
    assert (
        first.return_value == 1
        and "is not shown to be better" in first.stdout
        and "3 formulas decide nothing" in first.stdout
    )
    rows = journal.read_text()
    assert duel(project, "slow", "fast", *options).stdout == first.stdout
    assert journal.read_text() == rows, "the same call measures nothing again"


def test_one_solver_against_itself_and_folders_that_are_not_there_are_wrong_inputs(project):
    for champion, challenger, complaint in (
        ("slow", "slow", "have the same sources"),
        ("slow", "nowhere", "there is no folder"),
    ):
        error = duel(project, champion, challenger).exception
        assert isinstance(error, InputError) and complaint in error.what


def test_each_of_several_looks_asks_for_a_clearer_gain():
    theirs = np.random.default_rng(3).lognormal(0.0, 0.2, 20)
    ours = theirs * np.random.default_rng(4).lognormal(-0.2, 0.2, 20)
    ends = [cost_ratio(theirs, ours, np.random.default_rng(0), looks).low for looks in (1, 2, 4)]
    assert ends[0] > ends[1] > ends[2]
