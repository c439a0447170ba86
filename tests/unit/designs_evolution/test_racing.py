"""The race of a search: who goes on, who stays in the elite, and what a search is taken up from."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from designs_runs import Inline

from evolake.designs.evolution import racing
from evolake.designs.evolution.racing import ELITE, SAME_FORM, SLACK, Lap, Race, Racer, Rung, form_of, kept, run_rungs, score, state_of
from evolake.designs.genome.grammars import OPEN, PAPER, with_values
from evolake.designs.genome.open_genome import open_genome

RUNGS = (Rung(80, 8, 1, 5000), Rung(320, 8, 2, 20_000), Rung(320, 8, 3, 20_000))
BASE = OPEN.baseline()


def laps(*steps: int, missed: bool = False) -> list[Lap]:
    return [Lap(count, not (missed and place == len(steps) - 1), 0.1) for place, count in enumerate(steps)]


def variant(number: int) -> str:
    return with_values(BASE, {"alpha": 1.0 + number}).to_json()


def test_the_first_racer_gets_every_step_and_later_ones_a_bar_that_is_wide_at_small_sizes() -> None:
    race = Race(OPEN, RUNGS)
    assert race.limits() == [5000, 20_000, 20_000]
    for number, steps in enumerate((100, 200, 300, 400, 900)):
        race.take(f"r{number}", "t", variant(number), laps(steps, 10 * steps, 10 * steps))
    assert race.limits() == [math.ceil(SLACK * 2 * 400), math.ceil(SLACK * 4000), math.ceil(SLACK * 4000)]


def test_who_misses_a_rung_stands_behind_all_who_did_not_and_sets_no_bar_there() -> None:
    race = Race(OPEN, RUNGS)
    slow = race.take("slow", "t", variant(1), laps(900, 9000, 9000))
    fast = race.take("fast", "t", variant(2), laps(50, 500, 20_000, missed=True))
    assert race.take("none", "t", variant(3), laps(5000, missed=True)) is None
    assert race.elite == [slow, fast] and (race.raced, race.finished) == (3, 1)
    assert race.times == [[900, 50], [9000, 500], [9000]]


def test_the_score_is_the_mean_log_at_the_large_rungs() -> None:
    assert score(RUNGS, laps(3, 100, 10_000)) == pytest.approx(math.log(1000))
    assert score(RUNGS, laps(3)) == pytest.approx(math.log(3))


def test_the_elite_holds_few_of_one_form() -> None:
    other = open_genome(dict(BASE.drives) | {"v": ("tanh", "pull")}, (), BASE.constants).to_json()  # pyright: ignore[reportAttributeAccessIssue]
    racers = [Racer(f"a{number}", "t", variant(number), (1,), 0, number / 10) for number in range(9)] + [Racer("b", "t", other, (1,), 0, 5.0)]
    assert [racer.name for racer in kept(racers)] == [*(f"a{number}" for number in range(SAME_FORM)), "b"]
    assert form_of(variant(1)) == form_of(variant(2)) != form_of(other)
    assert form_of(PAPER.seeds()[0].to_json()) != form_of(PAPER.seeds()[1].to_json())
    assert ELITE >= SAME_FORM


def test_children_come_of_the_elite_and_none_comes_twice() -> None:
    race = Race(OPEN, RUNGS, taken={BASE.key()})
    assert race.propose(np.random.default_rng(0)) is None
    race.take("base", "baseline", BASE.to_json(), laps(100, 1000, 1000))
    random = np.random.default_rng(0)
    made = [race.propose(random) for _ in range(6)]
    keys = [child.key() for child in made if child]
    assert len(set(keys)) == 6 and set(keys) < race.taken


def test_what_is_kept_of_a_search_is_json() -> None:
    race = Race(OPEN, RUNGS)
    race.take("base", "baseline", BASE.to_json(), laps(100, 1000, 1000))
    data = json.loads(json.dumps(state_of(race)))
    assert data["grammar"] == "open" and data["elite"][0]["genome"] == BASE.to_json() and data["rungs"][2]["seed"] == 3


def test_a_design_stops_at_the_first_bar_that_it_misses(monkeypatch: pytest.MonkeyPatch) -> None:
    class Done:
        def __init__(self, steps: int, unsolved: float):
            self.median_step, self.unsolved_fraction, self.failure, self.cpu_s, self.steps_run = steps, unsolved, None, 0.5, steps

    asked = []

    def run_apart(run):
        asked.append((run.n, run.max_steps, run.seed == run.instance_seed))
        return Done(run.max_steps, 0.4 if run.n == 80 else 0.9)

    monkeypatch.setattr("evolake.designs.engines.isolated.run_apart", run_apart)
    found = Inline().submit(run_rungs, "{}", RUNGS, [700, 800, 900], 4.3, 10.0).result()
    assert found == [Lap(700, True, 0.5, 700), Lap(800, False, 0.5, 800)]
    assert asked == [(80, 700, True), (320, 800, True)]
    assert racing.BAR_PLACE > 1
