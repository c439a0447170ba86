"""Figures of solvers: the same bytes every time, nothing cut off, no data said in words, and whom the
champion is drawn against."""

import numpy as np
import pytest
from figures import assert_drawn, pixels
from solver_lake import ID, make_lake

from evolake.lake import Lake
from evolake.report.figures import draw_figures
from evolake.solvers.report.material import Material, read_report, rival_of
from evolake.solvers.report.plots import Meeting, Par2Point, SolverTimes, cactus, par2_trajectory, scatter

TIMES = [
    SolverTimes("champion-with-a-name-that-is-much-too-long-for-a-legend", [0.1, 0.0, 3.5], "champion"),
    SolverTimes("seed", [0.4, 2.0], "seed"),
    SolverTimes("none", [], "seed"),
    *(SolverTimes(f"other-{number}", [0.2 * number + 0.1], "other") for number in range(12)),
]
POINTS = [Par2Point("0001", 3.0, [3.0, 4.0, 9.0]), Par2Point("0002", 2.0, []), Par2Point("0003", 1.5, [1.5])]
MEETINGS = [
    Meeting("a", 0.1, 0.2, "SAT"),
    Meeting("b", None, 1.0, "UNSAT"),
    Meeting("c", 2.0, None, "UNSAT"),
    Meeting("d", None, None),
    Meeting("e", 0.0, 1e-5, "SAT"),
]
FIGURES = {
    "cactus": lambda: cactus(TIMES, 5.0, "Cactus"),
    "cactus of nothing solved": lambda: cactus([SolverTimes("a", [])], 5.0, "Cactus"),
    "trajectory": lambda: par2_trajectory(POINTS, {"seed": 2.5, "another": 8.0}),
    "trajectory of many": lambda: par2_trajectory(
        [Par2Point(f"{number:04d}", 1.0 + 1 / number) for number in range(1, 80)], {}
    ),
    "trajectory of one": lambda: par2_trajectory(POINTS[:1], {"seed": 2.5}),
    "trajectory of none": lambda: par2_trajectory([], {}),
    "scatter": lambda: scatter(MEETINGS, 5.0, "parent: x" * 9, "champion: y" * 9, "Both"),
    "scatter of unsolved": lambda: scatter(MEETINGS[3:4], 5.0, "a", "b", "Both"),
    "scatter of none": lambda: scatter([], 5.0, "a", "b", "Both"),
}
TITLES = ["Cactus plot", "PAR-2 by cycle", "Formula by formula", "Genealogy"]


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_a_png_in_which_something_is_drawn_and_nothing_cut_off(name):
    assert_drawn(FIGURES[name]())


@pytest.mark.parametrize("name", ["cactus", "trajectory", "scatter"])
def test_the_same_data_gives_the_same_bytes(name):
    assert FIGURES[name]() == FIGURES[name]()


def test_faster_slower_and_unsolved_lie_where_they_should():
    """A dot below the diagonal is one on which the second is faster; unsolved ones lie beyond the timeout."""
    fast, slow = (
        pixels(
            scatter([Meeting("a", 1.0, second, "SAT"), Meeting("b", 0.01, 0.01, "UNSAT")], 5.0, "x", "y", "t")
        )
        for second in (0.1, 4.0)
    )
    low, high = blue_height(fast), blue_height(slow)
    unsolved = blue_height(
        pixels(
            scatter([Meeting("a", 1.0, None, "SAT"), Meeting("b", 0.01, 0.01, "UNSAT")], 5.0, "x", "y", "t")
        )
    )
    assert low > high > unsolved


def blue_height(image: np.ndarray) -> float:
    """Mean row of the dots in the colour of SAT, left of the legend; rows count from the top."""
    dots = np.abs(image - np.array([0x00, 0x72, 0xB2]) / 255).max(axis=2) < 0.3
    return float(np.nonzero(dots[:, : int(image.shape[1] * 0.8)])[0].mean())


def test_the_champion_is_drawn_against_its_parent_its_seed_or_a_rival(tmp_path):
    make_lake(tmp_path)
    late, early = read_report(tmp_path, "0002"), read_report(tmp_path, "0001")
    assert rival_of(late.population, late.champion) == (ID["tuned"], "parent")
    assert rival_of(late.population.keep_runs([ID["fast"], ID["alpha"]]), late.champion) == (
        ID["alpha"],
        "seed",
    )
    assert rival_of(early.population, early.champion) == (ID["tuned"], "rival")
    alone = early.population.keep_runs([ID["alpha"]])
    assert rival_of(alone, early.champion) == (ID["alpha"], "rival")
    drawn = list(
        draw_figures("evolake.solvers.report.figures", Material(Lake(tmp_path), "0002", late.population))
    )
    assert [title for title in drawn if title in TITLES] == TITLES
