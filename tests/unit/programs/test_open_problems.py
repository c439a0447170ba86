"""The open problems that evolake ships: their exact evaluators score published constructions as published,
and refuse what is invalid by 1e-9."""

from __future__ import annotations

import copy
import math
import re
import tomllib
from itertools import permutations

import numpy as np
import pytest
from control_problems import module_of, results, shared
from known_constructions import FANO, KNOWN, SORT_8, digits, integers, paley, roots, runs

from evolake.errors import InputError
from evolake.programs.model.project import project_of
from evolake.programs.problems import lines_of_problems, problem_files, problem_named, problems


def score_of(problem: str, output: object) -> float:
    metrics = module_of(problem, "evaluator.py").score([0], results(output))
    given = problems()[problem]
    return metrics[given.get("max") or given["min"]]


def invalid(problem: str) -> object:
    """A published construction that is changed by 1e-9 into one that is none."""
    output = copy.deepcopy(KNOWN[problem].output)
    if problem.startswith("circles"):
        x, y, _ = output[0]
        output[0][2] = 1e-9 + min(math.dist((u, v), (x, y)) - radius for u, v, radius in output[1:])
    elif problem.startswith("hexagons"):
        output = [[x * (1 - 1e-9), y * (1 - 1e-9), turn] for x, y, turn in touching_hexagons(len(output))]
    elif problem == "heilbronn_triangle_11":
        output[0] = [-1e-9, 0.5]
    elif problem == "heilbronn_square_10":
        output[0] = [1 + 1e-9, 0.5]
    elif problem.startswith(("heilbronn", "distances")):
        output[0] = output[1]  # any points are valid: this is the worst that there is
    elif problem == "tammes_15":
        output[0] = [0.0, 0.0, 0.0]  # of no direction; all others are valid
    elif problem == "erdos_overlap":
        output = [1 + 1e-9, 1 - 1e-9, 0.0, 0.0]
    elif problem == "autocorrelation_third":
        output = [1.0, -1 - 1e-9]
    elif problem.startswith("autocorrelation"):
        output[0] = -1e-9
    elif isinstance(output[0], list):
        output[0][0] += 1e-9
    else:
        output[0] += 1e-9
    return output


def touching_hexagons(count: int) -> list[list[float]]:
    return [[math.sqrt(3) * (place - count / 2), 0.0, math.pi / 6] for place in range(count)]


@pytest.mark.parametrize("problem", problems())
def test_a_published_construction_scores_as_published(problem):
    known, given = KNOWN[problem], problems()[problem]
    assert score_of(problem, known.output) == pytest.approx(known.value, abs=known.unit, rel=0)
    better = max if "max" in given else min
    assert better(known.value, given["best"]) == given["best"]  # what is called best known is
    initial = score_of(problem, module_of(problem, "initial_program.py").build(0))
    assert better(known.value, initial) == known.value != initial


@pytest.mark.parametrize("problem", problems())
def test_what_is_invalid_by_a_billionth_or_is_no_construction_gets_the_worst_score(problem):
    worst, initial = (
        score_of(problem, output) for output in (None, module_of(problem, "initial_program.py").build(0))
    )
    assert score_of(problem, invalid(problem)) == worst != initial
    assert worst == (max if "min" in problems()[problem] else min)(worst, initial)
    if problem.startswith("hexagons"):  # the same, until it is drawn together
        assert score_of(problem, touching_hexagons(len(KNOWN[problem].output))) != worst


def test_every_problem_has_a_construction_and_is_a_whole_project():
    assert set(KNOWN) == set(problems()) and len(KNOWN) >= 25
    for name, given in problems().items():
        project = project_of(name, {path: text.encode() for path, text in problem_files(name).items()})
        known = project.given.construction
        assert (known.best, known.picture) == (given["best"], given["picture"]) and project.protected
        assert known.source and re.fullmatch(r"\d{4}(-\d\d)?", known.date)
        assert project.metrics == {given.get("max") or given["min"]: "max" if "max" in given else "min"}
        assert tomllib.loads(problem_files(name)["project.toml"])["description"] == given["title"]


def test_a_problem_is_found_by_its_name_and_one_that_is_not_is_suggested():
    assert problem_named("circles-26") == problem_named("circles_26") == "circles_26"
    with pytest.raises(InputError, match="no problem 'circle-26'") as raised:
        problem_named("circle-26")
    assert "did you mean circles_26" in str(raised.value)
    listed = "\n".join(lines_of_problems())
    assert [name for name in problems() if f"{name}  " not in listed] == []
    assert "radii 2.63598, higher is better: Assumpcao et al." in listed


coverings, graphs, grids, sequences, spheres, steps = (
    shared(name) for name in ("coverings", "graphs", "grids", "sequences", "spheres", "autocorrelation")
)


WHEEL = [[a, b, 0, 0] for a, b in ((0, 0), (1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))]
SPINDLE = digits("0000 1000 0100 1100 0010 0001 0011")
"""Moser's: two rhombuses that share a corner, and are 1 apart at their ends."""


@pytest.mark.parametrize(
    ("score", "arguments", "output", "value"),
    [
        (spheres.kissing, [4], roots(4), 24),
        (spheres.kissing, [6], roots(6), 60),
        (sequences.ruler_length, [10], integers("0 1 6 10 23 26 34 41 53 55"), 55),
        (sequences.ruler_length, [4], [0, 1, 4, 6], 6),
        (sequences.energy, [13], runs("5221111"), 6),
        (sequences.additions, [15], [[0, 0], [0, 1], [2, 2], [3, 3], [4, 2]], 5),
        (graphs.comparators, [8], digits(SORT_8), 19),
        (graphs.ramsey_vertices, [3, 3], paley(5), 5),
        (graphs.ramsey_vertices, [4, 4], paley(17), 17),
        (graphs.ramsey_vertices, [5, 5], paley(37), 37),
        (graphs.unit_distances, [7], WHEEL, 12),
        (graphs.unit_distances, [7], SPINDLE, 11),
        (coverings.design_blocks, [7, 3, 2], digits(FANO), 7),
        (coverings.array_rows, [4, 2, 3], digits("0000 0112 0221 1011 1120 1202 2022 2101 2210"), 9),
        (grids.no_three_in_line, [4], digits("01 02 10 13 20 23 31 32"), 8),
        (grids.cap, [4], integers("0 3 7 8 10 11 13 14 24 43 52 56 59 60 61 71 72 73 75 76"), 20),
    ],
)  # fmt: skip
def test_small_constructions_score_as_is_known(score, arguments, output, value):
    assert list(score(results(output), *arguments).values()) == [value]


def test_angles_on_a_sphere_and_overlaps_are_those_of_known_figures():
    golden, half = (1 + math.sqrt(5)) / 2, math.pi / 4
    icosahedron = [
        vector
        for a, b in permutations([1.0, -1.0] * 2, 2)
        for vector in ([0.0, a, b * golden], [a, b * golden, 0.0], [b * golden, 0.0, a])
    ]
    icosahedron = [list(vector) for vector in dict.fromkeys(map(tuple, icosahedron))]
    found = spheres.largest_cosine(results(icosahedron), 12)["cosine"]
    assert 1 / math.sqrt(5) - 1e-15 < found < 1 / math.sqrt(5) + 1e-12
    best = (math.sqrt(8) - 1) / 7  # of 8 points: Schuette and van der Waerden (1951)
    high, wide = math.sqrt(best), math.sqrt(1 - best)
    antiprism = [
        [wide * math.cos(turn * half), wide * math.sin(turn * half), high * (-1) ** turn] for turn in range(8)
    ]
    assert spheres.largest_cosine(results(antiprism), 8)["cosine"] == pytest.approx(best, abs=1e-12)
    low, high = 0.5 - math.sqrt(1 / 40), 0.5 + math.sqrt(1 / 10)
    for heights, overlap in (([1.0, 1.0], 1 / 2), ([1.0, 2.0], 4 / 9), ([low, high, low], 2 / 5)):
        found = steps.overlap(results(heights))["overlap"]  # as Haugland's page has them
        assert found == pytest.approx(overlap, abs=1e-8)
    random = np.random.default_rng(0).uniform(0.3, 0.7, 40)
    scaled = random * 20 / random.sum()
    found = steps.overlap(results(random.tolist()))["overlap"]
    assert found == pytest.approx(np.correlate(scaled, 1 - scaled, "full").max() / 20, rel=1e-7)
