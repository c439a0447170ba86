"""The searches of the benchmark spend the evaluations they are given, to the last one, and none is worse than
the program that it began with."""

import pytest
from click.testing import CliRunner
from control_problems import BENCHMARKS, load

from evolake.gates.run import side_by_side
from evolake.programs.evolution import budgeted_search
from evolake.programs.search.searches import literals_in

control = load(BENCHMARKS / "programs_control.py", BENCHMARKS)
searches = load(BENCHMARKS / "programs_control_searches.py", BENCHMARKS)
PROBLEM = "plateaus"


@pytest.mark.parametrize("search", list(searches.SEARCHES))
def test_a_search_spends_its_evaluations_and_keeps_the_best(search):
    project = control.load_problem(PROBLEM)
    run = control.run_search(project, search, 1, "key", evaluations=7, workers=2)
    assert run.spent == 7 and run.best >= run.initial == 41.0 and list(run.program) == list(project.evolving)
    spent, scores = zip(*run.curve, strict=True)
    assert list(spent) == sorted(spent) and spent[0] == 0 and spent[-1] <= 7
    assert list(scores) == sorted(scores) and (scores[0], scores[-1]) == (run.initial, run.best)
    before, after = (literals_in(texts) for texts in (project.evolving, run.program))
    if search == "restart":
        assert sum(old.value != new.value for old, new in zip(before, after, strict=True)) <= 3


def test_no_more_is_evaluated_than_the_budget_however_many_ask():
    project = control.load_problem(PROBLEM)
    with budgeted_search.BudgetedEvaluator(
        project, control.LAPTOP, workers=2, mode=None, most=3
    ) as evaluator:
        found = side_by_side(lambda seed: evaluator.evaluate(project.evolving, seed), range(6), 3)
    assert (
        sorted(item.status for item in found) == ["budget"] * 3 + ["ok"] * 3
        and evaluator.spent == 3
        and evaluator.exhausted
    )


def test_the_command_names_a_problem_that_is_none_and_goes_on_from_its_file(tmp_path):
    runner, state = CliRunner(), tmp_path / "state.jsonl"
    unknown = runner.invoke(control.main, ["--problems", "circles"])
    assert unknown.exit_code == 2 and "there is no problem 'circles'; expected some of: " in unknown.output
    command = ["--evaluations", "2", "--seeds", "1", "--problems", PROBLEM, "--state", str(state)]
    first = runner.invoke(control.main, command)
    assert (
        first.exit_code == 0
        and "operators over hill, 1 problems: " in first.output
        and len(state.read_text().splitlines()) == 5
    )
    again = runner.invoke(control.main, command)
    assert again.stdout == first.stdout and len(state.read_text().splitlines()) == 5


def test_processor_seconds_end_a_search_and_its_polishes():
    """A polish counts its evaluations; with a number of evaluations there is none."""
    project = control.load_problem("distances_2d_16")
    run = control.run_search(project, "operators", 1, "key", seconds=8.0, workers=1)
    assert 6.0 <= run.cpu_s < 40 and run.best < run.initial and run.spent > 2
    hidden = control.load_problem("distances_2d_16", terms=False)
    assert (
        b"def smooth(" in project.files["evaluator.py"] and b"def smooth(" not in hidden.files["evaluator.py"]
    )
    with budgeted_search.BudgetedEvaluator(
        project, control.LAPTOP, workers=1, mode=None, most=9, seconds=0.0
    ) as evaluator:
        assert evaluator.exhausted and evaluator.polish([[0.0, 1.0]], [0], {}, seconds=1.0, seed=0) is None
