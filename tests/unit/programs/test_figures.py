"""The Pareto figure draws two metrics where there are two, and says so where there are not."""

from __future__ import annotations

import json

import polars as pl
import pytest

from evolake.programs.evolution.population import Population
from evolake.programs.report.figures import front
from evolake.programs.report.material import Material


def material(*metrics: dict[str, float]) -> Material:
    rows = [
        {
            "program_id": str(place),
            "project": "toy",
            "number": place,
            "state": "accepted",
            "score": 1.0,
            "metrics": json.dumps(metric),
            "front": place == 0,
            "operator": "initial",
            "parents": [],
            "islands": [0],
        }
        for place, metric in enumerate(metrics)
    ]
    return Material(["0001"], Population.empty().add(programs=rows), pl.DataFrame())


@pytest.mark.parametrize(
    ("metrics", "names"),
    [
        ([{"a": 1, "b": 2, "c": 3}, {"a": 2, "b": 1, "c": 3}], ["a", "b"]),
        ([{"a": 1}, {"a": 2}], ["a"]),
        ([{"a": 1, "b": 2}, {"a": 2}], ["a"]),
        ([], []),
    ],
)
def test_what_can_be_held_against_each_other(metrics: list[dict[str, float]], names: list[str]):
    assert front.differing(metrics) == names
    drawn = front.draw_front(material(*metrics))
    assert drawn.startswith(b"\x89PNG")
    assert (drawn == front.draw_front(material())) is (len(names) < 2)
