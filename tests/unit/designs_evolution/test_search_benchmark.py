"""The benchmark of a search says that a bar was reached only where what was run shows it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from evolake.designs.evolution.racing import Lap

FILE = Path(__file__).parents[3] / "benchmarks" / "designs_search.py"


@pytest.fixture(scope="module")
def search() -> Any:
    spec = importlib.util.spec_from_file_location("designs_search", FILE)
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def solved(*steps: int) -> list[Lap]:
    return [Lap(step, True, 1.0, step) for step in steps]


def cut(*steps: int) -> list[Lap]:
    """Runs that ended unsolved after so many steps; their estimates are far above."""
    return [Lap(25 * step, False, 1.0, step, timed_out=True) for step in steps]


def test_a_run_that_was_not_solved_counts_with_what_it_ran(search: Any) -> None:
    result = search.measured_of({"champion": solved(900, 1000, 1100, 1200), "baseline": [*solved(5000), *cut(2000, 3000)], "design 340": cut(0, 0)})
    assert result.steps == {"champion": 1050.0, "baseline": 3000.0, "design 340": 1.0}
    assert result.solved == {"champion": True, "baseline": False, "design 340": False}
    assert result.floors["champion"] == pytest.approx(1150 / 950) and result.ratio("baseline") == ("at least", 3000 / 1050)


@pytest.mark.parametrize(("champion", "baseline", "verdict"), [
    (solved(1000, 1000), solved(3000, 3000), "REACHED; baseline / champion at N=320 is 3.00"),
    (solved(1000, 1000), solved(2900, 2900), "not reached; baseline / champion at N=320 is 2.90"),
    (solved(1000, 1000), cut(3500, 3500), "REACHED; baseline / champion at N=320 is at least 3.50"),
    (solved(1000, 1000), cut(2000, 2000), "not reached; baseline / champion at N=320 is at least 2.00"),
    (cut(1000, 1000), solved(5000, 5000), "not reached; baseline / champion at N=320 is at most 5.00"),
    (cut(1000, 1000), cut(5000, 5000), "not reached; baseline / champion at N=320 is not known: 5.00"),
])
def test_a_bar_is_reached_only_where_the_bound_suffices(search: Any, champion: list[Lap], baseline: list[Lap], verdict: str) -> None:
    measured = {320: search.measured_of({"champion": champion, "baseline": baseline})}
    assert search.verdict("open", measured).startswith(f"bar of the grammar open: {verdict}, wanted 3 or more")
    assert search.verdict("paper", measured) == "bar of the grammar paper: not measured at N=640"


def test_the_paper_s_bar_is_the_noise_floor_of_the_noisier_design(search: Any) -> None:
    noisy = solved(1000, 1000, 1000, 2000, 2000, 2000)
    measured = {640: search.measured_of({"champion": noisy, "design 340": solved(2000, 2000)})}
    assert measured[640].floors == {"champion": 2.0, "design 340": 1.0}
    assert search.verdict("paper", measured).startswith("bar of the grammar paper: not reached; design 340 / champion at N=640 is 1.33, wanted more")
