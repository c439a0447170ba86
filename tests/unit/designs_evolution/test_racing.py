"""The race of a search: who goes on, who stays in the elite, and what a search is taken up from."""

import math

import numpy as np
import pytest
from designs_runs import Inline
from hypothesis import given
from hypothesis import strategies as st

from evolake.designs.evolution import racing
from evolake.designs.evolution.racing import (
    DIFFERENCE_FACTORS,
    ELITE,
    SAME_FORM,
    SLACK,
    BudgetLevel,
    KindScore,
    Race,
    Racer,
    Stage,
    differed,
    form_of,
    front_of,
    judged_order,
    kept,
    run_stages,
    score,
)
from evolake.designs.genome.open_genetic import parent_of
from evolake.designs.genome.open_genome import baseline, open_genome, with_values
from evolake.designs.genome.variation import Scale, differed_values
from evolake.designs.model.instances import uniform_kind

RUNGS = (BudgetLevel(80, 8, 1, 5000), BudgetLevel(320, 8, 2, 20_000), BudgetLevel(320, 8, 3, 20_000))
BASE = baseline()


def stages(*steps: int, missed: bool = False) -> list[Stage]:
    return [Stage(count, not (missed and place == len(steps) - 1), 0.1) for place, count in enumerate(steps)]


def variant(number: int) -> str:
    return with_values(BASE, {"alpha": 1.0 + number}).to_json()


def test_the_first_racer_gets_every_step_and_later_ones_a_bar_that_is_wide_at_small_sizes():
    race = Race(RUNGS)
    assert race.limits() == [5000, 20_000, 20_000]
    for number, steps in enumerate((100, 200, 300, 400, 900)):
        race.take(f"r{number}", "t", variant(number), stages(steps, 10 * steps, 10 * steps))
    assert race.limits() == [math.ceil(SLACK * 4 * 400), math.ceil(SLACK * 4000), math.ceil(SLACK * 4000)]


def test_the_score_is_the_mean_log_at_the_large_rungs():
    assert score(RUNGS, stages(3, 100, 10_000)) == pytest.approx(math.log(1000))
    assert score(RUNGS, stages(3)) == pytest.approx(math.log(3))


def test_the_elite_holds_few_of_one_form():
    other = open_genome(dict(BASE.drives) | {"v": ("tanh", "pull")}, (), BASE.constants).to_json()  # pyright: ignore[reportAttributeAccessIssue]

    def racer(name: str, genome: str, works: float) -> Racer:
        kind = KindScore("planted", 0, works, 80, 1, ())
        return Racer(name, "t", genome, (1,), 0, works, "", (kind,), (works,))

    racers = [racer(f"a{number}", variant(number), number / 10) for number in range(9)]
    racers.append(racer("b", other, 5.0))
    assert [racer.name for racer in kept(racers)] == [*(f"a{number}" for number in range(SAME_FORM)), "b"]
    assert form_of(variant(1)) == form_of(variant(2)) != form_of(other)
    assert len(kept(racers, ELITE)) == 10


def test_of_racers_that_take_the_same_steps_the_cheapest_is_kept():
    race = Race(BOTH)
    for number, (steps, cost) in enumerate(((500, 1.2), (500, 1.0), (500, 1.1), (501, 1.3))):
        result = [Stage(count, True, 0.1, per_step=cost) for count in (100, 100, steps, 100)]
        race.take(f"r{number}", "t", variant(number), result)
    assert [racer.name for racer in race.elite] == ["r1", "r3"]
    assert [racer.name for racer in race.specialists["planted"]] == ["r1", "r3"]
    assert [racer.name for racer in race.specialists["uniform"]] == ["r1"]


def test_children_come_of_the_elite_and_none_comes_twice():
    race = Race(RUNGS, taken={BASE.key()})
    assert race.propose(np.random.default_rng(0)) is None
    race.take("base", "baseline", BASE.to_json(), stages(100, 1000, 1000))
    random = np.random.default_rng(0)
    made = [race.propose(random) for _ in range(6)]
    keys = [child.key() for child in made if child]
    assert len(set(keys)) == 6 and set(keys) < race.taken


def test_a_difference_moves_the_first_along_what_tells_the_others_apart():
    alphas = (2.0, 3.0, 1.5)
    parents = [parent_of(f"p{alpha}", "t", with_values(BASE, {"alpha": alpha})) for alpha in alphas]
    scale = next(scale for scale in parents[0].scales if scale.name == "alpha")
    children = [differed(parents, set(), np.random.default_rng(seed)) for seed in range(30)]
    moved = [
        float(child.genome.values()["alpha"])
        for child in children
        if child is not None and child.genome is not None
    ]
    assert len(moved) > 15 and all(child is None or child.operator == "difference" for child in children)
    least, most = (
        (2.0 * 2.0**factor, 2.0 + 1.5 * factor)[scale.type == "uniform"] for factor in DIFFERENCE_FACTORS
    )
    assert all(min(least, scale.high) - 1e-4 <= value <= min(most, scale.high) + 1e-4 for value in moved)
    assert differed([parents[0], parents[1], parents[1]], set(), np.random.default_rng(0)) is None, (
        "no difference, no child"
    )
    taken = {child.key() for child in children if child is not None}
    assert all(differed(parents, taken, np.random.default_rng(seed)) is None for seed in range(30))


@given(
    values=st.lists(st.floats(0.01, 9.0), min_size=3, max_size=3),
    factor=st.floats(0.0, 2.0),
    kind=st.sampled_from(["uniform", "log_uniform"]),
)
def test_a_difference_stays_within_the_bounds(values, factor, kind):
    first, item, other = ({"a": value, "b": "x", "c": value} for value in values)
    scales = [
        Scale("a", kind, 0.1, 5.0),
        Scale("b", "categorical", choices=("x", "y")),
        Scale("d", "uniform", 0.0, 1.0),
    ]
    result = differed_values(first, item, other, scales, factor, np.random.default_rng(0))
    assert 0.1 <= result["a"] <= 5.0 or result["a"] == first["a"]
    assert {name: value for name, value in result.items() if name != "a"} == {
        name: value for name, value in first.items() if name != "a"
    }


def test_a_design_stops_at_the_first_bar_that_it_misses(monkeypatch):
    class Done:
        def __init__(self, steps: int, unsolved: float):
            self.median_step, self.unsolved_fraction, self.failure, self.cpu_s, self.steps_run = (
                steps,
                unsolved,
                None,
                0.5,
                steps,
            )
            self.timed_out, self.work_per_step = False, 2.0

    asked = []

    def run_apart(run):
        asked.append((run.n, run.max_work, run.seed == run.instance_seed))
        return Done(run.max_work // 2, 0.4 if run.n == 80 else 0.9)

    monkeypatch.setattr("evolake.designs.engines.isolated.run_apart", run_apart)
    result = Inline().submit(run_stages, "{}", RUNGS, [700, 800, 900], 10.0).result()
    assert result == [Stage(350, True, 0.5, 350, per_step=2.0), Stage(400, False, 0.5, 400, per_step=2.0)]
    assert [stage.median_work for stage in result] == [700, 800]
    assert asked == [(80, 700, True), (320, 800, True)]
    assert racing.BAR_PLACE > 1


BOTH = (
    BudgetLevel(80, 8, 1, 5000),
    BudgetLevel(80, 8, 2, 5000, uniform_kind(4.2)),
    BudgetLevel(320, 8, 3, 20_000),
    BudgetLevel(160, 8, 4, 20_000, uniform_kind(4.2)),
)


def test_each_kind_is_a_ladder_of_its_own_and_has_its_own_bars(monkeypatch):
    class Done:
        median_step, failure, cpu_s, steps_run, timed_out, work_per_step = 100, None, 0.5, 100, False, 1.0

        def __init__(self, unsolved: float):
            self.unsolved_fraction = unsolved

    asked = []

    def run_apart(run):
        asked.append((run.kind, run.n, run.ratio, run.p0))
        return Done(0.9 if run.kind == "planted" else 0.1)

    monkeypatch.setattr("evolake.designs.engines.isolated.run_apart", run_apart)
    race = Race(BOTH)
    result = Inline().submit(run_stages, "{}", BOTH, race.limits(), 10.0).result()
    assert asked == [("planted", 80, 4.3, 0.08), ("uniform", 80, 4.2, 0.0), ("uniform", 160, 4.2, 0.0)], (
        "a missed rung ends its own ladder alone"
    )
    assert [(stage.solved, stage.ran) for stage in result] == [
        (False, True),
        (True, True),
        (False, False),
        (True, True),
    ]
    racer = race.take("a", "t", variant(1), result)
    assert racer is not None and racer.missed == 2
    assert [(item.kind, item.missed, item.n, item.median) for item in racer.kinds] == [
        ("planted", 2, 0, 0),
        ("uniform", 0, 160, 100),
    ]
    assert racer.kinds[0].score == math.inf and racer.kinds[1].score == pytest.approx(math.log(100))
    assert race.limits() == [5000, math.ceil(SLACK * 2 * 100), 20_000, math.ceil(SLACK * 100)], (
        "as large as the largest of its kind"
    )


def test_a_racer_is_judged_by_its_worse_rank_over_kinds_and_the_front_holds_what_none_beats():
    race = Race(BOTH)
    works = {
        "planted": (10, 900, 10, 900),
        "uniform": (900, 10, 900, 10),
        "fair": (90, 90, 90, 90),
        "worse": (95, 95, 95, 95),
    }
    for number, (name, steps) in enumerate(works.items()):
        race.take(name, "t", variant(number), stages(*steps))
    assert [racer.name for racer in race.elite] == ["fair", "worse", "planted", "uniform"]
    assert {racer.name for racer in race.front} == {"planted", "uniform", "fair"}
    assert judged_order(race.front)[0].name == "fair" and front_of(race.front) == race.front
    assert race.elite[0].kinds[1].score == pytest.approx(math.log(90))
