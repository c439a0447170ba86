"""The archive: what is added, changed, published; where designs stand."""

import json
from pathlib import Path

import pytest

from evolake.designs.evolution.design_contest import contenders
from evolake.designs.evolution.line_state import rank_designs, reach
from evolake.designs.evolution.population import (
    Population,
    archive_asset,
    empty_population,
    population_of,
    text_id_of,
)
from evolake.designs.tables import ARCHIVE
from evolake.errors import InputError
from evolake.lake import Lake


def design(name: str, state: str = "accepted", **more: object) -> dict:
    return {
        "design_id": name,
        "state": state,
        "cycle": "0001",
        "title": f"title {name}",
        "origin": "seed",
        "operator": "seed",
        "tuned": False,
    } | more


def edge(child: str, parent: str, weight: float, operator: str = "graft") -> dict:
    return {"child_id": child, "parent_id": parent, "operator": operator, "weight": weight, "cycle": "0001"}


def result(
    name: str, n: int, unsolved: float = 0.4, fidelity: str = "low", steps: int = 50, max_steps: int = 100
) -> dict:
    return {
        "design_id": name,
        "cycle": "0001",
        "fidelity": fidelity,
        "level": 0,
        "batch": 10,
        "N": n,
        "ratio": 4.3,
        "run_till_median": True,
        "max_steps": max_steps,
        "unsolved_fraction": unsolved,
        "median_step": steps,
        "steps_run": steps,
        "seed": 1,
        "wall_s": 0.1,
        "cpu_s": 0.1,
        "profile": "test",
        "engine": "torch",
        "timed_out": False,
        "diverged": 0,
    }


FAMILY = (
    empty_population()
    .admit(
        [design("a" * 64), design("b" * 64), design("c" * 64, "blocked"), design("d" * 64, tuned=True)],
        [
            edge("b" * 64, "a" * 64, 1.0),
            edge("c" * 64, "a" * 64, 0.5),
            edge("c" * 64, "b" * 64, 0.5),
            edge("d" * 64, "b" * 64, 1.0, "tuning"),
        ],
    )
    .add(
        experiments=[
            result("a" * 64, 10),
            result("a" * 64, 14, 0.8),
            result("b" * 64, 10),
            result("b" * 64, 14, 0.8),
            result("b" * 64, 14, 0.3, "medium", 70, 200),
        ]
    )
)


def test_a_known_design_keeps_its_row_and_its_parents():
    again = FAMILY.admit(
        [design("b" * 64, "blocked"), design("e" * 64)],
        [edge("b" * 64, "d" * 64, 1.0), edge("e" * 64, "d" * 64, 1.0)],
    )
    assert again.row("b" * 64)["state"] == "accepted"
    assert [row for row in again.edges() if row[0] == "b" * 64] == [("b" * 64, "a" * 64, 1.0)]
    assert ("e" * 64, "d" * 64, 1.0) in again.edges()


def test_live_designs_are_the_accepted_and_the_champion():
    crowned = FAMILY.with_states({"b" * 64: "champion", "a" * 64: "retired"})
    assert FAMILY.live_ids() == ["a" * 64, "b" * 64, "d" * 64]
    assert crowned.live_ids() == ["b" * 64, "d" * 64]
    assert (FAMILY.champion_id, crowned.champion_id) == (None, "b" * 64)


def test_weights_of_a_child_are_replaced_as_a_whole():
    changed = FAMILY.with_weights({"c" * 64: {"b" * 64: 1.0}})
    assert [weight for child, _, weight in changed.edges() if child == "c" * 64] == [0.0, 1.0]
    assert [weight for child, _, weight in changed.edges() if child == "b" * 64] == [1.0]


def published(root: Path, population: Population) -> dict[str, str]:
    """Table -> content hash of the archive that enters cycle 0002, published as the asset that seals does."""
    return {
        name: Lake(root)
        .publish("designs", archive_asset(name), frame, cycle="0002", run_id="r", schema=ARCHIVE[name])
        .content_sha
        for name, frame in population.frames().items()
    }


def test_wall_time_is_no_content(tmp_path):
    slower = [row | {"wall_s": 9.0, "cpu_s": 8.0} for row in FAMILY.experiment_rows()]
    later = (
        empty_population()
        .admit(FAMILY.designs.to_dicts(), FAMILY.derivations.to_dicts())
        .add(experiments=slower)
    )
    assert published(tmp_path / "a", FAMILY) == published(tmp_path / "b", later)


def test_the_last_try_decides_how_far_a_design_reached():
    assert reach(FAMILY.experiment_rows(["a" * 64])) == {
        "largest_solved": 10,
        "median_step": 50,
        "median_work": 50.0,
        "fidelity": "low",
    }
    assert reach(FAMILY.experiment_rows(["b" * 64])) == {
        "largest_solved": 14,
        "median_step": 70,
        "median_work": 70.0,
        "fidelity": "medium",
    }
    assert reach([]) == {"largest_solved": 0, "median_step": None, "median_work": None, "fidelity": "none"}


def test_ranking_rows_carry_visits_and_bounds_of_the_graph_search():
    order = ["b" * 64, "d" * 64, "a" * 64]
    rows = rank_designs(FAMILY, dict(zip(order, (0.1, 0.4, 0.9), strict=True)), order, "0001")
    assert [(row["design_id"], row["rank"], row["consensus"]) for row in rows] == [
        ("b" * 64, 1, 0.1),
        ("d" * 64, 2, 0.4),
        ("a" * 64, 3, 0.9),
    ]
    visits = {row["design_id"]: row["visits"] for row in rows}
    assert visits["d" * 64] == 0.0
    assert visits["b" * 64] == pytest.approx(1.5)
    assert visits["a" * 64] == pytest.approx(1.0 + 0.5 + 0.5 * 0.9 + 1.0 * 0.9)
    total = sum(visits.values())
    assert rows[0]["ucb"] == pytest.approx(1.0 + 0.1 * total**0.5 / (1 + 1.5))


def test_a_blocked_text_is_known_by_its_text_and_values():
    assert text_id_of("s", {"b": 1, "a": 2}) == text_id_of("s", json.loads('{"a": 2, "b": 1}'))
    assert text_id_of("s", {}) != text_id_of("s", {"a": 1})


def test_a_challenger_has_to_show_itself_where_any_rival_has_solved():
    # a is first by consensus and got to N=10; b, which is behind it, to N=14
    challenger, incumbent, _ = contenders(FAMILY, ["a" * 64, "b" * 64], str)
    assert (challenger.design_id, challenger.largest_solved) == ("a" * 64, 14)
    assert contenders(FAMILY, ["a" * 64], str)[0].largest_solved == 10
    assert incumbent.largest_solved == 10


def test_a_table_that_lacks_a_column_is_refused():
    frames = FAMILY.frames() | {"state": FAMILY.state.rename({"value": "val"})}
    with pytest.raises(InputError, match="column 'value' is missing"):
        population_of(frames)
