"""The benchmark of searches: its problems can be evaluated, its climbers change literals, and its comparison
says what its figures say."""

from __future__ import annotations

import json
import math
import random
import tomllib
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from control_problems import BENCHMARKS, PROBLEMS, importable, load, module_of

from evolake.errors import InputError
from evolake.programs.evolution.outcome import search_seeds
from evolake.programs.gates import bare_text
from evolake.programs.model.program_text import outside_change
from evolake.programs.model.project import Project, project_of
from evolake.programs.sandbox.evaluating import Evaluation
from evolake.programs.search.searches import Climber, Literals, Numbers, changed_value, literals_in

control = load(BENCHMARKS / "programs_control.py", BENCHMARKS)
searches = load(BENCHMARKS / "programs_control_searches.py", BENCHMARKS)
NAMES = control.problem_names()
NOISY = {"noisy", "load_balancer", "seat_prices"}


def project_named(name: str) -> Project:
    return project_of(name, control.files_of(name))


def initial_metrics(name: str) -> dict[str, float]:
    """What the evaluator says of the initial program, in this process: it is our own code."""
    project = project_named(name)
    evaluator = module_of(name, "evaluator.py")
    if entry := project.given.program.entry:
        program = module_of(name, project.main)
        outputs = [json.loads(json.dumps(getattr(program, entry)(case))) for case in evaluator.cases(0)]
        return evaluator.score(evaluator.cases(0), [{"status": "ok", "output": output} for output in outputs])
    with importable(PROBLEMS / name):
        return evaluator.evaluate(str(PROBLEMS / name / project.main))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "c_parameters"])
def test_the_initial_program_of_a_problem_has_a_score_that_can_be_improved(name):
    random.seed(1)
    metrics = initial_metrics(name)
    assert set(project_named(name).metrics) <= set(metrics) and all(map(math.isfinite, metrics.values()))
    worst = {
        "radii": 0,
        "area": 0,
        "ratio": 1e6,
        "side": 100,
        "constant": 100,
        "comparisons": 5000,
        "error": 50,
    }
    score = project_named(name).score_name
    assert metrics[score] != worst.get(score)
    random.seed(2)
    assert (initial_metrics(name) == metrics) is (name not in NOISY)
    random.seed(1)
    assert initial_metrics(name) == metrics


def test_a_problem_has_those_shared_modules_that_its_evaluator_needs():
    assert {"exact.py", "hexagons.py"} <= set(control.load_problem("hexagons_11").files)
    assert "exact.py" not in control.load_problem("fit_30").files


def test_there_are_problems_of_many_kinds():
    assert len(NAMES) >= 18
    published = tomllib.loads(control.PUBLISHED.read_text())
    assert set(published) <= set(NAMES) and len(published) >= 13
    assert {system for values in published.values() for system in values} == set(control.SYSTEMS)


@pytest.mark.parametrize("name", NAMES)
def test_a_climber_changes_literals_within_the_blocks_and_nothing_else(name):
    texts, literals = project_named(name).evolving, Literals(project_named(name).evolving)
    before = literals_in(texts)
    assert before
    climber = Climber(literals.space, 0.0, np.random.default_rng(1), 10)
    for changed in map(literals.program, climber.ask()):
        assert not any(outside_change(texts[file], changed[file], file) for file in texts)
        after = literals_in(changed)
        if len(after) == len(before):  # a sign is no literal: -1 is an operator and 1
            differing = [
                place
                for place, (old, new) in enumerate(zip(before, after, strict=True))
                if old.value != new.value
            ]
            assert len(differing) <= 3


def test_a_marked_parameter_stays_within_its_bounds():
    literals, seen = Literals(project_named("c_parameters").evolving), set()
    climber = Climber(literals.space, 0.0, np.random.default_rng(2), 1)
    for better in range(200):
        [values] = climber.ask()
        climber.tell([values], [1.0 + better])
        texts = literals.program(values)
        [period] = [item.value for item in literals_in(texts) if isinstance(item.value, int)]
        seen.add(period)
    assert min(seen) >= 2 and max(seen) <= 40 and len(seen) > 5


@pytest.mark.parametrize(
    ("value", "kind"), [(3, int), (0, int), (0.5, float), (0.0, float), (True, bool), ("a", str)]
)
def test_a_literal_is_changed_into_another_of_its_kind(value, kind):
    chance = np.random.default_rng(0)
    values = [changed_value(value, ["a", "b", "c"], chance) for _ in range(50)]
    assert all(type(item) is kind for item in values) and value not in values
    assert len(set(values)) > (1 if kind is not bool else 0)


def test_the_ratio_of_improvements_is_capped_where_one_side_has_none():
    own, other = np.array([2.0, 0.0, 0.0, 1.0, 100.0]), np.array([1.0, 0.0, 1.0, 0.0, 1.0])
    assert control.improvement_ratio(own, other).tolist() == [2.0, 1.0, 0.1, 10.0, 10.0]


@pytest.mark.parametrize(
    ("own", "other", "verdict", "ratio"),
    [
        ([2.0, 2.1, 1.9], [1.0, 1.1, 0.9], "win", 2.0),
        ([1.0, 1.1, 0.9], [2.0, 2.1, 1.9], "loss", 0.5),
        ([1.0, 3.0, 2.0], [2.0, 1.0, 3.0], "tie", 1.0),
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], "tie", 1.0),
    ],
)
def test_a_win_is_an_interval_wholly_above_one(own, other, verdict, ratio):
    compared = control.compare("p", own, other, np.random.default_rng(0))
    assert (compared.verdict, compared.ratio.estimate) == (verdict, pytest.approx(ratio))
    assert compared.ratio.low <= ratio <= compared.ratio.high


def test_the_geometric_mean_is_over_problems():
    chance = np.random.default_rng(0)
    both = [
        control.compare("a", [4.0] * 3, [1.0] * 3, chance),
        control.compare("b", [1.0] * 3, [4.0] * 3, chance),
    ]
    mean = control.geometric_mean(both, chance)
    assert mean.estimate == pytest.approx(1) == mean.low == mean.high
    assert control.geometric_mean(both[:1], chance).estimate == pytest.approx(4)


def test_one_seed_gives_no_verdict_and_the_mean_an_interval_over_problems():
    chance = np.random.default_rng(0)
    some = [control.compare("p", [value], [1.0], chance) for value in (4.0, 0.5, 1.0, 2.0)]
    assert [item.verdict for item in some] == [control.ONE_SEED] * 4
    mean = control.geometric_mean(some, chance)
    assert mean.estimate == pytest.approx(2**0.5) and 0.5 < mean.low < 1 < 2 < mean.high < 4


def run(
    problem: str,
    search: str,
    seed: int,
    best: float,
    *,
    higher: bool = True,
    curve: tuple[tuple[int, float], ...] = ((0, 1.0),),
) -> Any:
    return control.Run(
        f"{problem}{search}{seed}",
        problem,
        search,
        seed,
        1.0,
        best,
        higher,
        150,
        1.0,
        1.0,
        {"a.py": "x = 1\n"},
        curve,
    )


BESTS = {"operators": 3.0, "hill": 2.0, "restart": 1.5, "cma": 3.0, "de": 1.0}


def test_the_table_has_medians_ratios_and_verdicts():
    runs = [run("p", search, seed, best + seed / 100) for search, best in BESTS.items() for seed in range(3)]
    runs += [run("q", search, seed, 0.5, higher=False) for search in BESTS for seed in range(3)]
    runs += [run("r", "hill", 0, 2.0)]  # no run of the others yet: it is left out
    lines = control.comparison_table(runs, ["p", "q", "r"])
    assert lines[0].startswith("| problem | initial | operators | hill | restart | cma | de | over hill |")
    assert lines[2] == (
        "| p (higher) | 1 | 3.01 | 2.01 | 1.51 | 3.01 | 1.01 | 1.99 (1.96 to 2.02) win | "
        "3.94 (3.85 to 4.04) win | 1.00 (0.99 to 1.01) | 10.00 (10.00 to 10.00) win |"
    )
    assert lines[3].startswith("| q (lower) | 1 | 0.5 |") and len(lines) == 9
    assert lines[5].startswith(
        "operators over hill, 2 problems: 1 wins, 1 ties, 0 losses; geometric mean 1.41"
    )


def test_the_table_of_one_seed_has_no_intervals():
    lines = control.comparison_table([run("p", search, 0, best) for search, best in BESTS.items()], ["p"])
    assert lines[2] == "| p (higher) | 1 | 3 | 2 | 1.5 | 3 | 1 | 2.00 | 4.00 | 1.00 | 10.00 |"
    assert lines[4].startswith(
        "operators over hill, 1 problems: ahead on 1, behind on 0, equal on 0, one seed;"
    )
    assert lines[4].endswith("2.00 (95% 2.00 to 2.00 over problems)")


def test_at_equal_seconds_searches_are_compared_at_equal_evaluations_too_without_a_polish():
    curves = {
        "operators": ((0, 1.0), (40, 2.0), (90, 9.0)),
        "plain": ((0, 1.0), (40, 2.0), (90, 5.0)),
        "hill": ((0, 1.0), (10, 1.5), (60, 2.0)),
        "restart": ((0, 1.0), (5, 3.0)),
        "cma": ((0, 1.0), (5, 3.0)),
        "de": ((0, 1.0), (5, 3.0)),
    }
    runs = [run("p", search, 0, curve[-1][1], curve=curve) for search, curve in curves.items()]
    runs = [replace(item, spent=50 if item.search == "hill" else 150) for item in runs]
    assert runs[0].score_after(39) == 1.0 and runs[0].score_after(40) == 2.0
    assert [runs[0].improvement_after(count) for count in (0, 89, 90, 1000)] == [0.0, 1.0, 8.0, 8.0]
    lines = control.comparison_table(runs, ["p"], plain=True)
    assert lines[0].startswith("| problem | initial | operators | plain | hill |")
    assert lines[2] == "| p (higher) | 1 | 9 | 5 | 2 | 3 | 3 | 3 | 8.00 | 4.00 | 4.00 | 4.00 |"
    # after 50 evaluations hill climbing had 1.5 and the operators 2
    assert lines[-4].startswith(
        "at equal evaluations, without a polish: operators over hill, 1 problems: ahead"
    )
    assert "geometric mean 2.00" in lines[-4] and "geometric mean 2.00" in lines[-1]
    # where there is nothing to polish, the operators' own runs are those without one
    own = [item for item in runs if item.search != "plain"]
    assert control.runs_by_search(own, "p")["plain"] == [own[0]]


def test_each_problem_has_its_processor_seconds():
    given = tomllib.loads(control.BUDGETS.read_text())
    assert set(given) <= {"usual", *NAMES}
    found = control.budgets(NAMES)
    assert found["c_parameters"] == given["c_parameters"] and found["fit_8"] == given["usual"]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "categories"])
def test_a_vector_is_all_numbers_of_a_program_and_0_is_what_they_are(name):
    texts = project_named(name).evolving
    literals = Literals(texts)
    vector = Numbers(literals.space)
    assert bare_text(literals.program(vector.values(np.zeros(vector.count)))) == bare_text(dict(texts))
    moved = literals.program(vector.values(np.full(vector.count, 0.5)))
    assert not any(outside_change(texts[file], moved[file], file) for file in texts)
    before, after = (literals_in(one) for one in (texts, moved))
    assert sum(one.value != other.value for one, other in zip(before, after, strict=True)) > 0


def test_lower_is_an_improvement_where_lower_is_better():
    better = run("p", "hill", 0, 0.25, higher=False, curve=((0, 1.0), (3, 0.5), (9, 0.25)))
    worse = run("p", "hill", 0, 2.0, higher=False, curve=((0, 1.0), (3, 2.0)))
    assert better.improvement_after(3) == 0.5 and worse.improvement_after(3) == 0.0


def test_the_table_of_the_field_shows_how_far_the_first_published_value_is():
    published = {"circles_21": {"AlphaEvolve": "2.5 (later 3)"}, "distances_2d_16": {"AlphaEvolve": "12.5"}}
    runs = [
        run("circles_21", "operators", 0, 2.475),
        run("distances_2d_16", "operators", 0, 12.0, higher=False),
    ]
    lines = control.field_table(runs, published)
    assert lines[0].startswith("| problem | initial | operators | evaluations | processor seconds | over A")
    assert lines[1].count("---") == len(lines[0].split(" | "))
    assert (
        lines[2].startswith("| circles_21 (higher) | 1 | 2.475 | 150 | ") and " | -1.000% | 2.5 (" in lines[2]
    )
    assert " | +4.000% | 12.5 |" in lines[3]
    assert lines[-1] == "within 1% of it: 2 of 2; at or beyond it: 1"


def test_runs_are_read_back_and_a_line_that_was_broken_off_is_left_out(tmp_path):
    state, kept = tmp_path / "state.jsonl", run("p", "hill", 0, 2.0)
    assert control.read_runs(state) == {}
    state.write_text(json.dumps(asdict(kept)) + "\n" + '{"key": "half')
    assert control.read_runs(state) == {kept.key: kept}
    assert state.read_text() == json.dumps(asdict(kept)) + "\n"
    older = asdict(kept) | {"key": "older"}
    del older["curve"]  # of a version that had none; its runs have other keys and are made again
    state.write_text(json.dumps(older) + "\n")
    assert set(control.read_runs(state)) == {"older"}
    state.write_text('{"another": "file"}\n' + json.dumps(asdict(kept)) + "\n")
    with pytest.raises(InputError, match="line 1 of .* is no run of this benchmark"):
        control.read_runs(state)


def test_a_run_is_repeated_only_if_what_it_depends_on_has_changed(tmp_path, monkeypatch):
    done: list[tuple[str, int]] = []

    def ran(project: Any, search: str, seed: int, key: str, **sizes: Any) -> Any:
        done.append((search, seed))
        return control.Run(key, project.name, search, seed, 1.0, 2.0, True, 5, 0.0, 0.0, {}, ())

    monkeypatch.setattr(control, "run_search", ran)

    def runs(evaluations: int) -> list[Any]:
        state, until = tmp_path / "state.jsonl", math.inf
        return list(
            control.runs_of(
                ["hexagons_11"],
                ["hill"],
                2,
                state,
                evaluations=evaluations,
                minutes=None,
                workers=1,
                until=until,
            )
        )

    assert runs(5) == runs(5) and done == [("hill", 0), ("hill", 1)]
    runs(6)
    assert len(done) == 4


def test_the_list_of_problems_names_each():
    listed = (PROBLEMS / "README.md").read_text()
    own = [path.name for path in PROBLEMS.iterdir() if path.is_dir()]
    assert [name for name in own if f"`{name}`" not in listed] == []


def test_under_held_out_seeds_a_failure_counts_as_the_worst_score(monkeypatch):
    project, asked = control.load_problem("noisy"), []

    class Scored:
        """Costs of 1 and 2 in turn, and every third evaluation fails."""

        def __init__(self, *_: Any) -> None: ...

        def __enter__(self) -> Scored:
            return self

        def __exit__(self, *_: object) -> None: ...

        def build(self, _: Any) -> None: ...

        def evaluate(self, _: Any, seed: int, __: None) -> Evaluation:
            asked.append(seed)
            return (
                Evaluation("raised")
                if len(asked) % 3 == 0
                else Evaluation("ok", metrics={"cost": float(len(asked) % 3)})
            )

    monkeypatch.setattr(control, "Evaluator", Scored)
    assert control.held_out_score(project, project.evolving) == pytest.approx((1 + 2 + 2) / 3)
    assert len(set(asked)) == control.HELD_OUT and set(asked).isdisjoint(
        search_seeds(project, control.LAPTOP, 0)
    )
    assert not searches.held_out_seeds(control.load_problem("plateaus"), control.LAPTOP, 12)
