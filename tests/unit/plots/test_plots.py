"""Figures: the same bytes every time, nothing cut off, no data said in words; and the arithmetic under
them."""

import numpy as np
import pytest
from figures import assert_drawn

from evolake.designs.report.objective_plots import (
    CycleValues,
    consensus_trajectory,
    objective_pca,
    objective_weights,
    tau_matrix,
)
from evolake.designs.report.scaling_plots import Curve, scaling
from evolake.plots import (
    Ancestor,
    ArmCurve,
    ArmDelta,
    ArmPoint,
    ArmRate,
    arm_curves,
    arm_deltas,
    arm_frontier,
    arm_rates,
    arm_steps,
    genealogy,
)

RNG = np.random.default_rng(0)
RANKS = np.array([RNG.permutation(20) for _ in range(9)], dtype=float)
NAMES = [f"objective-{i}-with-a-long-name" for i in range(9)]
FAMILIES = ["reach", "tail", "reach", "cliff", "tail", "headroom", "baseline", "restart", "bottleneck"]
SIZES = [10, 14, 20, 28, 40]
CURVES = [
    Curve("x" * 64, SIZES, [9, 20, 41, 80, 3000], [True] * 4 + [False]),
    Curve("base", SIZES, [20, 44, 60, 90, 170], [True] * 5),
    Curve("z", [10], [3], [True]),
]
DESIGNS = [
    Ancestor("a", "0001"),
    Ancestor("b", "0001"),
    Ancestor("c", "0002", "blocked"),
    Ancestor("d", "0002"),
    Ancestor("e", "0003", "candidate"),
]
EDGES = [
    ("a", "c", 1.0),
    ("a", "d", 0.4),
    ("b", "d", 0.6),
    ("d", "e", 0.7),
    ("a", "e", 0.3),
    ("gone", "e", 0.1),
]
ARMS = ["reference", "again_and_again", "with_a_hint_of_some_length"]
RATES = [
    ArmRate(ARMS[place], rate, rate - 0.05, min(rate + 0.05, 1), {"SAT": rate, "UNSAT": float("nan")})
    for place, rate in enumerate((0, 0.5, 1))
]
ROUNDS = [ArmCurve(arm, [1, 2, 3], [0.1, 0.4, 0.4], [0.0, 0.3, 0.3], [0.2, 0.5, 0.6]) for arm in ARMS]
POINTS = [
    ArmPoint(ARMS[0], 1, 0.0, 0.0, 0.1, True),
    ArmPoint(ARMS[1], 9, 0.5, 0.4, 0.6, False),
    ArmPoint(ARMS[2], 6, 0.7, 0.6, 0.8, True),
]
DELTAS = {
    "scaled": [
        ArmDelta(arm, delta, delta - 0.05, delta + 0.02)
        for arm, delta in zip(ARMS, (-0.2, 0.0, 0.1), strict=True)
    ],
    "permuted": [],
}

FIGURES = {
    "tau": lambda: tau_matrix(np.corrcoef(RANKS), NAMES),
    "tau of many": lambda: tau_matrix(np.eye(60), [str(i) for i in range(60)]),
    "tau of none": lambda: tau_matrix(np.zeros((0, 0)), []),
    "weights": lambda: objective_weights(NAMES, np.full(9, 1 / 9), FAMILIES, [1, 0.7, 1, 1, 0, 1, 1, 1, 1]),
    "weights of many": lambda: objective_weights(
        [str(i) for i in range(120)], np.full(120, 1 / 120), ["reach", "tail"] * 60
    ),
    "weights of none": lambda: objective_weights([], [], []),
    "pca": lambda: objective_pca(RANKS, NAMES, np.linspace(0, 1, 9), FAMILIES),
    "pca of one": lambda: objective_pca(RANKS[:1], NAMES[:1], [1.0], FAMILIES[:1]),
    "pca of constants": lambda: objective_pca(np.ones((3, 4)), NAMES[:3], [0, 0, 0], FAMILIES[:3]),
    "scaling": lambda: scaling(CURVES, champion="x" * 64, baseline="base"),
    "scaling of nothing": lambda: scaling([Curve("a", [], [], [])]),
    "scaling, one level, unsolved": lambda: scaling(
        [Curve("a", [10], [900], [False])], champion="a", baseline="a"
    ),
    "genealogy": lambda: genealogy(DESIGNS, EDGES, "e"),
    "genealogy without a champion": lambda: genealogy(DESIGNS, EDGES, None),
    "genealogy of none": lambda: genealogy([], []),
    "rates": lambda: arm_rates(RATES, "Rates"),
    "rates of none": lambda: arm_rates([], "Rates"),
    "steps": lambda: arm_steps(ROUNDS, "Steps", "calls", "share"),
    "steps of none": lambda: arm_steps([], "Steps", "calls", "share"),
    "curves": lambda: arm_curves(ROUNDS, "Curves", "round", "share"),
    "curves of none": lambda: arm_curves([], "Curves", "round", "share"),
    "frontier": lambda: arm_frontier(POINTS, "Frontier", "calls", "share"),
    "frontier of none": lambda: arm_frontier([], "Frontier", "calls", "share"),
    "deltas": lambda: arm_deltas(DELTAS, "Deltas", "points"),
    "deltas of none": lambda: arm_deltas({}, "Deltas", "points"),
    "trajectory": lambda: consensus_trajectory(
        [CycleValues("0001", RNG.random(5).round(2), "a"), CycleValues("0002", [0.0, 1.0], "b")]
    ),
    "trajectory of one": lambda: consensus_trajectory([CycleValues("0001", [0.5])]),
    "trajectory of none": lambda: consensus_trajectory([]),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_a_png_in_which_something_is_drawn_and_nothing_cut_off(name):
    assert_drawn(FIGURES[name]())


@pytest.mark.parametrize(
    "name", ["tau", "weights", "pca", "scaling", "genealogy", "rates", "steps", "frontier", "deltas"]
)
def test_the_same_data_gives_the_same_bytes(name):
    assert FIGURES[name]() == FIGURES[name]()
