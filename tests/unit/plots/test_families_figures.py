"""Figures of task families: the same bytes again, other bytes for other data, and words where there is
nothing."""

from dataclasses import replace

import pytest

from evolake.families.plots import (
    Curve,
    GateRate,
    Panel,
    difficulty,
    distributions,
    gate_rates,
    growth,
    shares,
)

GATES = [GateRate("execution", 10, 10), GateRate("blind", 8, 5, 0.55), GateRate("never met", 0, 0, 0.9)]
PANELS = [
    Panel("lines", {"seed": [10, 20, 30], "pipe": [40.0], "none": []}, {"published": 25.0}),
    Panel("effort", {"seed": [1e3, 2e4], "pipe": [5e5]}, log=True),
    Panel("depth", {"pipe": [1, 2, 3]}),
]
GROUPS = {"here": {"logical": 3.0, "spatial": 400.0, "other": 0.0}, "there": {"logical": 5.0, "causal": 1.0}}
CURVES = [
    Curve("seeds", [(1, 300.0, 432.0, 780.0), (10, 2982.0, 5905.0, 16523.0)]),
    Curve("drawn worlds", [(1, 0.0, 90.0, 120.0)]),
]
PASSED = [(1, 0.75, 0.6, 0.86), (5, 0.0, 0.0, 0.09)]
FIGURES = {
    "gates": (
        lambda: gate_rates(GATES, "Gates", "a study"),
        lambda: gate_rates(GATES[:1], "Gates", "a study"),
    ),
    "gates of none": (
        lambda: gate_rates([], "Gates", "a study"),
        lambda: gate_rates(GATES, "Gates", "a study"),
    ),
    "shares": (lambda: shares(GROUPS, "Shares"), lambda: shares({"here": GROUPS["here"]}, "Shares")),
    "shares of none": (
        lambda: shares({"here": {"logical": 0.0}}, "Shares"),
        lambda: shares(GROUPS, "Shares"),
    ),
    "distributions": (
        lambda: distributions(PANELS, "Complexity"),
        lambda: distributions(PANELS[:2], "Complexity"),
    ),
    "distributions of none": (
        lambda: distributions([], "Complexity"),
        lambda: distributions([Panel("lines", {"seed": [1]})], "Complexity"),
    ),
    "difficulty": (lambda: difficulty(CURVES, PASSED, "D"), lambda: difficulty(CURVES, PASSED[:1], "D")),
    "difficulty without a policy": (
        lambda: difficulty(CURVES, [], "D"),
        lambda: difficulty(CURVES[:1], [], "D"),
    ),
    "difficulty of none": (lambda: difficulty([], [], "D"), lambda: difficulty(CURVES, [], "D")),
    "growth": (
        lambda: growth(["0001", "0002"], [50, 60], [900, 1500], {"a study": (953, 21_389)}),
        lambda: growth(["0001"], [50], [900], {}),
    ),
    "growth of none": (lambda: growth([], [], [], {}), lambda: growth(["0001"], [50], [900], {})),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_the_same_bytes_again_and_shows_its_data(name):
    draw, other = FIGURES[name]
    drawn = draw()
    assert drawn.startswith(b"\x89PNG")
    assert drawn == draw()
    assert drawn != other()


def test_a_gate_that_nothing_came_to_and_a_group_without_members_are_left_out():
    assert gate_rates(GATES, "Gates", "a study") == gate_rates(GATES[:2], "Gates", "a study")
    assert shares(GROUPS | {"nobody": {"logical": 0.0}}, "Shares") == shares(GROUPS, "Shares")
    without = [
        replace(panel, groups={name: values for name, values in panel.groups.items() if values})
        for panel in PANELS
    ]
    assert distributions(PANELS, "Complexity") == distributions(without, "Complexity")
