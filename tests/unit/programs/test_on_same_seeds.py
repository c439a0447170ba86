"""Held-out scores of several cycles, each of which has seeds of its own, as one series."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.lake import Catalogue, Lake
from evolake.lines import folder_of
from evolake.programs.evolution.population import Population
from evolake.programs.report.figures import draw_score
from evolake.programs.report.material import Material, on_same_seeds
from evolake.programs.tables import DECISIONS, PROGRAMS, PROJECTS

STEPS = st.lists(st.tuples(st.floats(-5, 5), st.floats(0, 3), st.booleans()), min_size=1, max_size=6)
"""Of each cycle: what its seeds add to every score, how much better the challenger is, whether it wins."""


def decisions(steps: list[tuple[float, float, bool]], sign: int) -> tuple[list[dict], list[float]]:
    """Rows of DECISIONS, and the champion's true score after each cycle."""
    true, rows, scores = 10.0, [], []
    for place, (seeds, better, wins) in enumerate(steps, 1):
        true += sign * better if wins else 0.0
        scores.append(true)
        rows.append(
            {
                "cycle": f"{place:04d}",
                "project": "fit",
                "champion_id": "a",
                "holder_id": "a",
                "wins": wins,
                "difference": better,
                "low": better - 1,
                "high": better + 2,
                "holder_mean": true + seeds,
                "initial_mean": 10.0 + seeds,
                "noise": 0.0,
                "protected": True,
            }
        )
    return rows, scores


@given(STEPS, st.sampled_from((1, -1)))
def test_what_seeds_add_is_the_same_for_all_cycles(steps, sign):
    rows, scores = decisions(steps, sign)
    found = on_same_seeds(rows, higher_is_better=sign > 0)
    assert found == pytest.approx([score + steps[-1][0] for score in scores])
    gains = [after - before for before, after in pairwise(found)]
    assert all(sign * gain >= -1e-9 for gain in gains), "no champion looks worse than the one before"


def test_where_no_difference_is_known_the_series_begins_again():
    rows, _ = decisions([(0.0, 1.0, True), (5.0, 1.0, True), (1.0, 1.0, True)], 1)
    rows[1]["difference"] = None
    assert on_same_seeds(rows, higher_is_better=True) == [11.0, 13.0, 14.0 - 1.0 + 1.0]
    assert on_same_seeds([], higher_is_better=True) == []
    rows[2]["holder_mean"] = None
    assert on_same_seeds(rows, higher_is_better=True) == [11.0, 17.0, None]


@pytest.mark.parametrize("sign", [1, -1])
def test_the_cookbook_and_the_figure_have_the_same_series(tmp_path, sign):
    rows, _ = decisions([(2.0, 1.0, True), (-3.0, 0.5, False), (4.0, 2.0, True), (0.0, 1.0, False)], sign)
    lake, cycles = Lake(tmp_path), [row["cycle"] for row in rows]
    for row in rows:
        project = {"cycle": row["cycle"], "project": "fit", "higher_is_better": sign > 0}
        for asset, schema, one in (("champion", DECISIONS, row), ("projects", PROJECTS, project)):
            frame = schema.frame([one])
            lake.publish("programs", asset, frame, cycle=row["cycle"], run_id="r", schema=schema)
    [question] = folder_of("evolake.programs.cookbook").glob("program_champions.sql")
    with Catalogue(lake) as catalogue:
        answer = catalogue.frame(question.read_text())
    wanted = on_same_seeds(rows, higher_is_better=sign > 0)
    assert answer["on_same_seeds"].to_list() == pytest.approx(wanted)
    program = {"program_id": "a", "project": "fit", "state": "champion", "number": 0, "operator": "initial"}
    population = replace(Population.empty(), programs=PROGRAMS.frame([program]))
    ways = {"fit": {"combined_score": "max" if sign > 0 else "min"}}
    material = Material(cycles, population, DECISIONS.frame(rows), ways)
    assert draw_score(material).startswith(b"\x89PNG")
