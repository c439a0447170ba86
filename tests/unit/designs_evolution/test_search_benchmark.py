"""The benchmark of a search says that a bar was reached only where what was run shows it."""

import dataclasses
import importlib.util
import json
import sys
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from evolake.designs.evolution import racing
from evolake.designs.evolution.racing import Stage
from evolake.designs.genome.open_genome import baseline

FOLDER = Path(__file__).parents[3] / "benchmarks"


def loaded(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def search() -> Any:
    """The bar of the benchmark."""
    return loaded("designs_bar")


@pytest.fixture(scope="module")
def whole(search) -> Any:
    """The benchmark, which imports its bar."""
    return loaded("designs_search")


def solved(*steps: int) -> list[Stage]:
    return [Stage(step, True, 1.0, step) for step in steps]


def cut(*steps: int) -> list[Stage]:
    """Runs that ended unsolved after so many steps; their estimates are far above."""
    return [Stage(25 * step, False, 1.0, step, timed_out=True) for step in steps]


def held_against(search: Any, champion: list[Stage], rival: list[Stage], place: int = 0) -> Any:
    return search.compared(search.BARS[place], champion, rival, 1)


@pytest.mark.parametrize(
    ("champion", "rival", "reached"),
    [
        ((1000, 1010, 990) * 3, (4000, 4100, 3900) * 3, True),
        ((1000, 1010, 990) * 3, (2900, 2950, 2800) * 3, False),
        # the ratio is above three, but three lies in its interval
        ((1000, 1010, 990, 1000), (5000, 2000, 6000, 2500), False),
    ],
)
def test_a_bar_is_reached_only_beyond_the_error(search, champion, rival, reached):
    result = held_against(search, solved(*champion), solved(*rival))
    assert result.reached is reached and result.low <= result.ratio <= result.high
    assert (
        search.verdict([result])
        == ("bar: REACHED at " if reached else "bar: not reached at ") + "planted p0=0.08 N=320"
    )


def test_a_champion_that_was_not_solved_has_not_reached_it_and_a_rival_s_bound_suffices(search):
    ours, theirs = (1000, 1010, 990) * 3, (4000, 4100, 3900) * 3
    assert held_against(search, solved(*ours), cut(*theirs)).reached
    assert not held_against(search, cut(*ours), solved(*theirs)).reached
    assert search.verdict([]) == "bar: not measured"


def test_a_run_that_was_not_solved_counts_with_what_it_ran(search):
    result = held_against(search, solved(900, 1000, 1100), [*solved(5000), *cut(2000, 3000)])
    assert (result.champion, result.rival, result.solved, result.rival_solved) == (
        (900, 1000, 1100),
        (5000, 2000, 3000),
        True,
        False,
    )
    assert "design 340 / champion at least" in str(result)


def test_rungs_hold_both_kinds_and_several_p0_and_no_batch_twice(search):
    levels = search.budget_levels(3, "race")
    assert {level.kind.name for level in levels} == {"planted", "uniform"} and len(
        {level.seed for level in levels}
    ) == len(levels)
    assert len({level.kind.p0 for level in levels if level.kind.name == "planted"}) >= 3
    assert all(4.0 <= level.kind.ratio <= 4.2 for level in levels if level.kind.name == "uniform")
    fresh = [level for bar in search.BARS for level in search.bar_levels(bar, 3)]
    assert not {level.seed for level in levels} & {level.seed for level in fresh}
    assert all(sum(level.batch for level in search.bar_levels(bar, 3)) >= 400 for bar in search.BARS)


def test_a_search_is_continued_from_its_file(whole, tmp_path):
    levels = whole.budget_levels(3, "race")
    race = racing.Race(levels)
    race.take("a", "one", baseline().to_json(), [Stage(100, True, 0.1), Stage(200, False, 0.1)])
    search = whole.Search(race, whole.SearchTotals(), None, None, 3, tmp_path / "state.json")
    search.references = {"baseline": [Stage(7, True, 0.1)]}
    search.keep()
    again, _, references = whole.read_state(tmp_path / "state.json")
    assert (again.elite, again.front, again.levels, references) == (
        race.elite,
        race.front,
        levels,
        search.references,
    )


class Finals:
    """A search whose designs take what a rule says: of a design's source, a level and its cutoff."""

    def __init__(self, race: racing.Race, takes: Any) -> None:
        self.race, self.takes, self.executor = race, takes, self
        self.runs: list[tuple[str, int]] = []

    def traced(self, source: str) -> str | None:
        return None if "0.123" in source else source

    def prepared(self, levels: Any) -> None:
        assert levels

    def run(self, name: str, levels: list[Any]) -> list[Stage]:
        return [Stage(3000, True, 0.1) for _ in levels]

    def submit(self, run_stages: Any, text: str, levels: list[Any], limits: list[int], wall_s: float) -> Any:
        (level,), (limit,) = levels, limits
        work = self.takes(text, level)
        self.runs.append((text, level.seed))
        stage = Stage(work, True, 0.1) if work <= limit else Stage(limit, False, 0.1, steps_run=limit)
        done: Future[list[Stage]] = Future()
        done.set_result([stage])
        return done


def finals(whole: Any, values: list[float], takes: Any) -> Finals:
    """The finals of designs that differ in their `lr`, the first being the first of the elite."""
    race = racing.Race(whole.budget_levels(3, "race"))
    data = json.loads(baseline().to_json())
    racer = race.take("c", "design", json.dumps(data), [Stage(100, True, 0.1) for _ in race.levels])
    assert racer is not None
    racers = []
    for place, value in enumerate(values):
        constants = [[*item[:-1], value] if item[0] == "lr" else item for item in data["constants"]]
        genome = json.dumps({**data, "constants": constants})
        racers.append(dataclasses.replace(racer, name=f"c{place}", genome=genome))
    race.elite, race.front = racers, racers[:1]
    return Finals(race, takes)


def test_a_design_that_was_lucky_on_one_batch_is_no_champion(whole):
    first = {level.seed for levels in whole.final_levels(3, 0).values() for level in levels}

    def takes(text: str, level: Any) -> int:
        lucky = "0.511" in text
        if level.seed in first:
            return 100 if lucky else 500
        return 10**9 if lucky and level.kind.name == "uniform" else 500

    search = finals(whole, [0.511, 0.622], takes)
    assert whole.champion_of(search, 3).name == "c1"


def test_finals_meet_formulas_of_their_own_and_the_best_of_the_first_round_meet_more(whole, search):
    running = finals(whole, [round(0.3 + 0.01 * place, 3) for place in range(12)], lambda *_: 700)
    whole.champion_of(running, 3)
    seeds = {seed for _, seed in running.runs}
    race = {level.seed for level in running.race.levels}
    bar = {level.seed for item in search.BARS for level in search.bar_levels(item, 3)}
    assert len(seeds) == 6 * len(search.BARS) and not seeds & (race | bar)
    meetings = sorted(
        sum(text == one for text, _ in running.runs) for one in {text for text, _ in running.runs}
    )
    assert meetings == [5] * 4 + [30] * 8
