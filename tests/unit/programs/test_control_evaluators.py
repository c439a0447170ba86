"""The exact evaluators of AlphaEvolve's problems: valid configurations are scored exactly, and what is
invalid by 1e-9 is refused."""

from __future__ import annotations

import math
import time
import tomllib
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from control_problems import PROBLEMS, module_of, results, shared
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evolake.programs.problems import problem_files, problems

circles, points, hexagons, auto = (
    shared(name) for name in ("circles", "points", "hexagons", "autocorrelation")
)
SHRUNK = 1 - Fraction(1, 2**40)
ROOT3 = math.sqrt(3)

GRID_26 = [[0.1 + 0.2 * (k % 5), 0.1 + 0.2 * (k // 5), 0.1] for k in range(25)] + [
    [0.2, 0.2, 0.1 * (math.sqrt(2) - 1)]
]
"""25 circles that touch each other and the walls, but for rounding, and one between four of them."""
GRID_32 = [[(1 + 2 * (k % 6)) / 12, (1 + 2 * (k // 6)) / 12, 1 / 12] for k in range(32)]
GRID_21 = [[0.1 + 0.2 * (k % 7), 0.1 + 0.2 * (k // 7), 0.1] for k in range(21)]
STRANGE = [
    None,
    3,
    "text",
    {},
    [],
    [[0, 0, 0]],
    [["0", 0, 0]] * 26,
    [[True, False, True]] * 26,
    [[math.nan, 0.5, 0.01]] * 26,
    [[0.5, 0.5, math.inf]] * 26,
    [[10**400, 0, 0]] * 26,
    [[0.5, 0.5]] * 26,
    [[0.5, 0.5, 0.1, 0.1]] * 26,
    [[1e300, 0.0, 0.0]] * 26,
    [[[0.5], 0.5, 0.1]] * 26,
    [None] * 26,
]


def evaluator(problem: str) -> Any:
    return module_of(problem, "evaluator.py")


def changed(rows: list[list[float]], row: int, column: int, by: float) -> list[list[float]]:
    return [
        [value + by * (place == column) if k == row else value for place, value in enumerate(one)]
        for k, one in enumerate(rows)
    ]


@pytest.mark.parametrize(
    ("problem", "rows", "total"),
    [
        ("circles_26", GRID_26, 2.4 + 0.1 * math.sqrt(2)),
        ("circles_32", GRID_32, 32 / 12),
        ("circles_21", GRID_21, 2.1),
    ],
)
def test_circles_that_touch_but_for_rounding_are_accepted_and_scored_below_their_sum(problem, rows, total):
    scored = evaluator(problem).score([0], results(rows))
    exact = sum((Fraction(radius) for _, _, radius in rows), Fraction(0)) * SHRUNK
    assert Fraction(scored["radii"]) <= exact < Fraction(math.nextafter(scored["radii"], math.inf))
    assert scored["radii"] == pytest.approx(total, abs=1e-11) and scored["radii"] < total


@pytest.mark.parametrize(
    ("problem", "rows"), [("circles_26", GRID_26), ("circles_32", GRID_32), ("circles_21", GRID_21)]
)
@pytest.mark.parametrize(
    ("row", "column", "by"), [(7, 2, 1e-9), (7, 2, 1e-12), (0, 0, -1e-9), (3, 1, -1e-12), (1, 2, -2)]
)
def test_an_overlap_or_a_circle_outside_is_refused(problem, rows, row, column, by):
    assert evaluator(problem).score([0], results(changed(rows, row, column, by))) == {
        "radii": 0.0,
        "smallest": 0.0,
    }


@pytest.mark.parametrize("output", STRANGE, ids=range(len(STRANGE)))
@pytest.mark.parametrize(
    "problem",
    [
        "circles_26",
        "circles_32",
        "circles_21",
        "heilbronn_triangle_11",
        "heilbronn_convex_13",
        "heilbronn_convex_14",
        "distances_2d_16",
        "distances_3d_14",
        "hexagons_11",
        "hexagons_12",
        "autocorrelation_first",
        "autocorrelation_second",
        "autocorrelation_third",
    ],
)
def test_what_is_no_configuration_gets_the_worst_score(problem, output):
    worst = {"circles": 0.0, "heilbronn": 0.0, "distances": 1e6, "hexagons": 100.0}.get(problem.split("_")[0])
    if worst is None:
        worst = 0.0 if problem == "autocorrelation_second" else 100.0
    module = evaluator(problem)
    assert set(module.score([0], results(output)).values()) == {worst}
    assert set(module.score([0], [{"status": "timeout", "output": None}]).values()) == {worst}


packings = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=12, unique=True)


@settings(max_examples=60, deadline=None)
@given(cells=packings, jitter=st.lists(st.floats(-0.03, 0.03), min_size=24, max_size=24))
def test_a_random_packing_is_accepted_until_it_shrinks_over_the_border(cells, jitter):
    places = [
        (0.05 + 0.1 * x + a, 0.05 + 0.1 * y + b)
        for (x, y), a, b in zip(cells, jitter, jitter[12:], strict=False)
    ]
    radius = min(math.dist(one, other) for one, other in combinations(places, 2)) / 2
    packed = [[0.25 + x / 2, 0.25 + y / 2, radius / 2] for x, y in places]
    count = len(packed)
    assume(all(r <= min(x, y, 1 - x, 1 - y) for x, y, r in packed))
    assert circles.sum_of_radii(results(packed), count)["radii"] == pytest.approx(
        count * radius / 2, abs=1e-11
    )
    narrower = [[0.5 + (x - 0.5) * (1 - 1e-9), 0.5 + (y - 0.5) * (1 - 1e-9), r] for x, y, r in packed]
    assert circles.sum_of_radii(results(narrower), count)["radii"] == 0.0


def test_heilbronn_of_known_points():
    corners = [[0, 0], [1, 0], [0, 1]]
    assert points.heilbronn_in_triangle(results(corners), 3)["area"] == pytest.approx(1, abs=1e-11)
    assert points.heilbronn_in_triangle(results([*corners, [1 / 3, 1 / 3]]), 4)["area"] == pytest.approx(
        1 / 3, abs=1e-11
    )
    assert points.heilbronn_in_triangle(results([*corners, [0.5, 0.5 + 1e-9]]), 4)["area"] == 0.0
    assert points.heilbronn_in_triangle(results([*corners, [-1e-9, 0.5]]), 4)["area"] == 0.0
    assert points.heilbronn_in_triangle(results([*corners, [0.5, 0.0]]), 4)["area"] == 0.0  # on a line
    square = [[0, 0], [1, 0], [1, 1], [0, 1]]
    assert points.heilbronn_in_hull(results(square), 4)["area"] == 0.5
    assert points.heilbronn_in_hull(results([*square, [0.5, 0.25]]), 5)["area"] == 0.125
    assert points.heilbronn_in_hull(results([[0, 0], [1, 1], [2, 2]]), 3)["area"] == 0.0
    assert points.heilbronn_in_hull(results([[1, 1]] * 5), 5)["area"] == 0.0


coordinates = st.floats(0.001, 0.999)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(coordinates, coordinates), min_size=11, max_size=11, unique=True))
def test_heilbronn_is_what_floats_say_but_for_rounding(drawn):
    rows = [[x * (1 - y), y] if x * (1 - y) + y <= 1 else [0.2, 0.3] for x, y in drawn]
    areas = [
        abs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
        for a, b, c in combinations(rows, 3)
    ]
    assert points.heilbronn_in_triangle(results(rows), 11)["area"] == pytest.approx(min(areas), abs=1e-11)
    beyond = max(x + y for x, y in rows)
    moved = [[x + (1 - beyond) + 1e-9, y] for x, y in rows]
    assert points.heilbronn_in_triangle(results(moved), 11)["area"] == 0.0
    doubled = [[2 * x, 2 * y] for x, y in rows]
    assert points.heilbronn_in_hull(results(rows), 11) == points.heilbronn_in_hull(results(doubled), 11)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(*[st.integers(-50, 50)] * 3), min_size=5, max_size=5, unique=True))
def test_the_ratio_of_distances_is_exact_and_rounded_up(rows):
    squares = [
        sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) for one, other in combinations(rows, 2)
    ]
    exact = Fraction(max(squares), min(squares))
    found = points.squared_distance_ratio(results([list(row) for row in rows]), 5, 3)["ratio"]
    assert Fraction(math.nextafter(found, -math.inf)) < exact <= Fraction(found)
    assert (
        points.squared_distance_ratio(results([list(row) for row in [*rows, rows[0]]]), 6, 3)["ratio"] == 1e6
    )


def test_hexagons_of_a_lattice_are_accepted_until_they_overlap():
    ring = [
        [
            ROOT3 * math.cos(k * math.pi / 3 + math.pi / 6),
            ROOT3 * math.sin(k * math.pi / 3 + math.pi / 6),
            0.0,
        ]
        for k in range(6)
    ]
    seven = [[0, 0, 0], *ring]
    assert 3 < hexagons.outer_side(results(seven), 7)["side"] < 3 + 1e-10
    assert (
        hexagons.outer_side(results([[x * (1 - 1e-9), y * (1 - 1e-9), turn] for x, y, turn in seven]), 7)[
            "side"
        ]
        == 100.0
    )
    assert (
        hexagons.outer_side(results(changed(seven, 1, 2, 1e-3)), 7)["side"] == 100.0
    )  # turned into its neighbours
    assert 1 < hexagons.outer_side(results([[0, 0, 0]]), 1)["side"] < 1 + 1e-12
    assert 2 / ROOT3 < hexagons.outer_side(results([[0, 0, math.pi / 6]]), 1)["side"] < 2 / ROOT3 + 1e-12
    assert hexagons.outer_side(results([[0, 0, 0], [0, 0, 0]]), 2)["side"] == 100.0
    assert hexagons.outer_side(results([[0, 101, 0]]), 1)["side"] == 100.0


@settings(max_examples=80, deadline=None)
@given(turn=st.floats(-50, 50), edge=st.integers(0, 5), far=st.floats(-2, 2), along=st.floats(-1, 1))
def test_hexagons_side_by_side_touch_at_any_angle(turn, edge, far, along):
    toward = turn + math.pi / 6 + edge * math.pi / 3

    def pair(distance: float) -> list[list[float]]:
        x, y = far, -far / 2
        across = [
            distance * math.cos(toward) - along * math.sin(toward),
            distance * math.sin(toward) + along * math.cos(toward),
        ]
        return [[x - across[0] / 2, y - across[1] / 2, turn], [x + across[0] / 2, y + across[1] / 2, turn]]

    assert hexagons.outer_side(results(pair(ROOT3)), 2)["side"] < 100
    assert hexagons.outer_side(results(pair(ROOT3 - 1e-9)), 2)["side"] == 100.0


def test_the_side_is_large_enough_for_every_corner():
    random = np.random.default_rng(3)
    for _ in range(50):
        x, y, turn = random.uniform(-3, 3, 3).tolist()
        side = hexagons.outer_side(results([[x, y, turn]]), 1)["side"]
        ends = [
            (x + math.cos(turn + k * math.pi / 3), y + math.sin(turn + k * math.pi / 3)) for k in range(6)
        ]
        reach = max(max(abs(a) + abs(b) / ROOT3, 2 * abs(b) / ROOT3) for a, b in ends)
        assert reach < side < reach + 1e-10


def test_the_constants_of_a_flat_function():
    flat = [1.0] * 20
    assert auto.first_constant(results(flat))["constant"] == 2.0
    assert auto.second_constant(results(flat))["constant"] == pytest.approx(2 / 3, abs=1e-15)
    assert auto.third_constant(results(flat))["constant"] == 2.0
    for heights in (
        [1.0, -1e-9, 1.0],
        [0.0, 0.0],
        [1.0],
        [1.0] * (auto.MOST + 1),
        [math.nan, 1.0],
        ["1", 1.0],
    ):
        assert auto.first_constant(results(heights))["constant"] == 100.0
        assert auto.second_constant(results(heights))["constant"] == 0.0
    assert auto.third_constant(results([1.0, -0.5, 1.0]))["constant"] < 100
    assert auto.third_constant(results([1.0, -2.0, 0.5]))["constant"] == 100.0  # its integral is negative


def test_the_third_constant_counts_what_is_deep_below_zero_and_is_compared_with_a_record_that_does():
    deep = [1.0, 0.1, -1.0, 0.9]
    assert np.convolve(deep, deep).min() == -1.99 and np.convolve(deep, deep).max() == 1.6
    assert auto.third_constant(results(deep))["constant"] == pytest.approx(2 * 4 * 1.99 / sum(deep) ** 2)
    published = tomllib.loads((PROBLEMS / "published.toml").read_text())
    assert published["autocorrelation_third"]["AlphaEvolve"] == "1.4688"


@pytest.mark.parametrize("steps", [50, 400, 575, 600, 1319])
def test_functions_of_as_many_steps_as_published_ones_have_are_scored_within_their_time(steps):
    heights = np.random.default_rng(steps).uniform(0, 1e6, steps).tolist()
    convolved, begun = np.convolve(heights, heights), time.process_time()
    first = auto.first_constant(results(heights))["constant"]
    assert first == pytest.approx(2 * steps * convolved.max() / sum(heights) ** 2, rel=1e-6)
    signed = [height * (-1) ** (place % 5 == 2) for place, height in enumerate(heights)]
    third = 2 * steps * abs(np.convolve(signed, signed)).max() / sum(signed) ** 2
    assert auto.third_constant(results(signed))["constant"] == pytest.approx(third, rel=1e-6)
    assert 0 < auto.second_constant(results(heights))["constant"] < 1
    assert time.process_time() - begun < 1  # of the 2 s that project.toml allows


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 10), min_size=2, max_size=40))
def test_the_constants_are_those_of_the_convolution(heights):
    assume(sum(heights) > 0.1)
    convolved = np.convolve(heights, heights)
    first = 2 * len(heights) * convolved.max() / sum(heights) ** 2
    assert auto.first_constant(results(heights))["constant"] == pytest.approx(first, rel=1e-6)
    fine = np.interp(
        np.linspace(-1, len(convolved), 200 * (len(convolved) + 1) + 1),
        np.arange(-1, len(convolved) + 1),
        [0, *convolved, 0],
    )
    second = (fine**2).mean() * (len(convolved) + 1) / (convolved.max() * convolved.sum())
    assert auto.second_constant(results(heights))["constant"] == pytest.approx(second, rel=1e-2)
    signed = [height - 2 * (place % 3 == 1) for place, height in enumerate(heights)]
    if sum(signed) > 0.1:
        third = 2 * len(signed) * abs(np.convolve(signed, signed)).max() / sum(signed) ** 2
        assert auto.third_constant(results(signed))["constant"] == pytest.approx(third, rel=1e-6)


def test_sorting_what_stands_for_the_values_is_no_way_round_a_comparison(tmp_path):
    path = tmp_path / "program.py"
    sorting = evaluator("fewer_comparisons")
    for body in ("return sorted(values)", "return values", "return values[:1] * len(values)"):
        path.write_text(f"def sort(values, less):\n    {body}\n")
        assert sorting.evaluate(str(path)) == {"comparisons": sorting.WORST}, body
    path.write_text(
        "import functools\n"
        "def sort(values, less):\n"
        "    return sorted(values, key=functools.cmp_to_key(lambda a, b: 1 - 2 * less(a, b)))\n"
    )
    assert 24 <= sorting.evaluate(str(path))["comparisons"] < 100


@pytest.mark.parametrize("problem", [name for name, given in problems().items() if "smooth" in given])
def test_the_smallest_term_is_the_score_of_a_valid_output(problem):
    """What evaluators offer to a polish says what they score, on the initial program's output."""
    given = tomllib.loads(problem_files(problem)["project.toml"])
    [(metric, way)] = given["metrics"].items()
    module = evaluator(problem)
    output = module_of(problem, "initial_program.py").build(0)
    output = [list(row) if isinstance(row, tuple) else row for row in output]
    terms, limits = module.smooth(output)
    scored = module.score([0], results(output))[metric] * (1 if way == "max" else -1)
    if problem.startswith("distances"):  # a ratio: the smallest distance is 1 only at the end
        assert min(terms) / (min(limits) + 1) == pytest.approx(scored)
    else:
        assert min(terms) == pytest.approx(scored)
        own = [limit for limit in limits if limit < -1e-9]
        assert problem == "circles_21" or not own  # its limits take circle 13 for the rightmost


def test_a_limit_below_zero_is_what_the_score_refuses():
    module = evaluator("circles_26")
    for rows in (changed(GRID_26, 3, 2, 0.01), changed(GRID_26, 0, 0, -0.01)):
        assert min(module.smooth(rows)[1]) < 0 and module.score([0], results(rows))["radii"] == 0.0
    assert min(module.smooth(GRID_26)[1]) > -1e-12 and module.score([0], results(GRID_26))["radii"] > 0
    turned = [[2.0 * k, 0.0, 0.0] for k in range(11)]
    assert min(evaluator("hexagons_11").smooth(turned)[1]) > 0
    assert min(evaluator("hexagons_11").smooth(changed(turned, 1, 0, -0.5))[1]) < 0
