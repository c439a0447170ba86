"""What a design's memories do with a clause, asked of its graph: the paper's equations for the baseline, and
a figure for any champion."""

import json

import numpy as np
from figures import assert_drawn

from evolake.designs.commands import EXAMPLE
from evolake.designs.evolution.population import empty_population
from evolake.designs.model.contract import TracedDesign
from evolake.designs.report.figures import AT_SHORT, LEVELS, draw_champion_memory, responses_of
from evolake.designs.report.material import Material
from evolake.designs.tracing.trace import trace


def test_the_baseline_s_memories_move_as_its_equations_say(pool, seed_files):
    traced = trace(seed_files["baseline"].read_text(), pool=pool, dtype="float64")
    assert isinstance(traced, TracedDesign)
    result = responses_of(traced, "champion")
    assert [(item.memory, item.level) for item in result] == [
        (name, f"xl = {level:,.0f}") for level in LEVELS for name in ("xl", "xs")
    ]
    values = {name: float(value) for name, value in traced.hyper_values.items()}
    for element in result:
        long, short = (
            values["alpha"] * (element.x - values["delta"]),
            values["beta"] * (AT_SHORT + values["epsilon"]) * (element.x - values["gamma"]),
        )
        exact = long if element.memory == "xl" else short
        np.testing.assert_allclose(element.y / element.y[-1], exact / exact[-1], rtol=1e-9, atol=1e-12)


def test_a_champion_with_memories_of_its_own_is_drawn_beside_the_baseline(pool, seed_files):
    texts = {}
    rows = []
    for name, source, state, origin in (
        ("a", seed_files["baseline"].read_text(), "accepted", "seed"),
        ("b", EXAMPLE, "champion", "operators"),
    ):
        traced = trace(source, pool=pool)
        assert isinstance(traced, TracedDesign)
        texts[name] = json.dumps(traced.to_json())
        rows.append(
            {
                "design_id": name * 64,
                "state": state,
                "cycle": "0001",
                "title": name,
                "origin": origin,
                "tuned": False,
                "traced_sha": name,
            }
        )
    assert_drawn(draw_champion_memory(Material(empty_population().admit(rows, []), texts=texts.__getitem__)))
    nobody = empty_population().admit([rows[0]], [])
    assert_drawn(draw_champion_memory(Material(nobody, texts=texts.__getitem__)))
