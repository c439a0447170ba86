"""Projects that declare several metrics: Pareto rank, the duel by metrics, the challenger, the figure."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs_fixtures import OWN, apart

from evolake.programs.evolution.population import Islands, Population, crowding, dominates, fronts
from evolake.programs.evolution.program_contest import (
    challenger_of,
    decide_by_metrics,
    decide_champion,
    decide_duel,
    run_duel,
    sides_of,
)
from evolake.programs.report.figures import draw_front
from evolake.programs.report.material import Material, front_of, lines_of
from evolake.programs.sandbox.evaluating import Evaluation

TOML = '[program]\nentry = "double"\n[evaluator]\nmode = "separate"\n[metrics]\na = "max"\nb = "min"\n'
ALONE = TOML.replace('b = "min"\n', "")
SEEDS = range(8)


def row(name: str, a: float, b: float, **more: object) -> dict:
    return {
        "program_id": name,
        "project": "toy",
        "score": a,
        "cell": "0",
        "size": 10,
        "number": int(name),
        "state": "accepted",
        "islands": [0],
        "front": False,
        "metrics": json.dumps({"a": a, "b": b}),
        "operator": "initial" if name == "0" else "number",
        "parents": [],
    } | more


def islands(*rows: dict, toml: str = TOML, **settings: int) -> Islands:
    return Islands(
        apart(toml=toml),
        OWN.model_copy(update={"elites": 3, "islands": 1} | settings),
        {item["program_id"]: item for item in rows},
    )


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=14))
def test_fronts_are_peeled_one_after_another(points):
    ranks = fronts(np.array(points))
    left, rank = set(range(len(points))), 0
    while left:
        best = {
            i
            for i in left
            if not any(
                points[j] != points[i] and all(o >= p for o, p in zip(points[j], points[i], strict=True))
                for j in left
            )
        }
        assert {i for i in left if ranks[i] == rank} == best
        left, rank = left - best, rank + 1


def test_crowding_is_infinite_at_the_ends_and_larger_where_it_is_emptier():
    points = np.array([[0.0, 10.0], [1.0, 9.0], [2.0, 8.0], [9.0, 1.0], [10.0, 0.0]])
    result = crowding(points, fronts(points))
    assert np.isinf(result[[0, 4]]).all() and result[3] >= result[2] > result[1] > 0
    assert not crowding(np.ones((3, 2)), np.zeros(3, dtype=int)).any()


def test_an_archive_keeps_the_front_not_the_best_scores():
    held = islands()
    for number, (a, b) in enumerate([(5, 5), (4, 6), (4, 7), (1, 1), (3, 9)]):
        held.admit(row(str(number), a, b), 0)
    assert set(held.rows) == {"0", "1", "3"}
    assert [item["program_id"] for item in held.on(0)] == ["0", "3", "1"]
    alone = islands(toml=ALONE)
    for number, (a, b) in enumerate([(5, 5), (4, 6), (4, 7), (1, 1), (3, 9)]):
        alone.admit(row(str(number), a, b), 0)
    assert set(alone.rows) == {"0", "1", "2"}


def test_parents_are_drawn_by_rank():
    held = islands(row("1", 5, 5), row("2", 1, 1), row("3", 4, 9), row("4", 3, 8))
    drawn = [held.parents(0, np.random.default_rng(seed))[0]["program_id"] for seed in range(400)]
    assert min(drawn.count("1"), drawn.count("2")) > max(drawn.count("3"), drawn.count("4"))


def test_a_program_without_a_declared_metric_is_last():
    held = islands(row("1", 9, 0, metrics='{"a": 9}'), row("2", 1, 5), row("3", 2, 6))
    assert [item["program_id"] for item in held.on(0)] == ["3", "2", "1"]


def test_the_challenger_dominates_the_champion_if_one_does():
    champion = row("1", 5, 5, state="champion")
    rows = [row("2", 9, 9), row("3", 0, 0), row("4", 6, 4)]
    held = islands(champion, *rows)
    assert dominates(held.project, rows[2], champion) and not dominates(held.project, rows[0], champion)
    assert (challenger_of(held, champion) or {})["program_id"] == "4"
    assert (challenger_of(islands(champion, *rows[:2]), champion) or {})["program_id"] == "2"
    assert challenger_of(islands(champion), champion) is None
    assert (challenger_of(islands(champion, *rows, toml=ALONE), champion) or {})["program_id"] == "2"


def duel(gains: tuple[float, ...], noise: float, seed: int = 0) -> dict:
    """The decision where the challenger differs by `gains` in as many metrics, in the unit of the noise over
    seeds."""
    rng = np.random.default_rng(seed)

    def evaluate(side: str, place: int) -> Evaluation:
        values = {
            f"m{number}": noise * float(rng.normal()) + (gain if side == "n" else 0.0)
            for number, gain in enumerate(gains)
        }
        return Evaluation("ok", metrics=values, seed=place)

    names = [f"m{number}" for number in range(len(gains))]
    scores = [lambda item, name=name: item.metrics[name] for name in names]
    done = run_duel(sides_of("c", "n", "c"), SEEDS, evaluate, scores=scores, seedless=not noise)
    return decide_by_metrics(
        {
            name: {side: [item.metrics[name] for item in items] for side, items in done.items()}
            for name in names
        },
        rng,
        seedless=not noise,
    )


@pytest.mark.parametrize(
    ("gains", "wins", "why"),
    [
        ((0.1, 0.0), True, "a gain beyond the noise in m0, and no loss beyond it in another metric"),
        ((0.0, 0.1), True, "a gain beyond the noise in m1, and no loss beyond it in another metric"),
        ((0.1, 0.1), True, "a gain beyond the noise in m0 and m1, and no loss"),
        ((0.1, -0.1), False, "a gain beyond the noise in m0, but a loss beyond it in m1"),
        ((0.0, -0.1), False, "a loss beyond the noise in m1"),
        ((0.0, 0.0), False, "no gain beyond the noise in any metric"),
    ],
)
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_challenger_wins_by_a_gain_without_a_loss(gains, wins, why, noise):
    result = duel(gains, noise)
    assert (result["wins"], result["reason"].startswith(why)) == (wins, True), result["reason"]
    assert ("could go unseen" in result["reason"]) == (wins and noise > 0), "an exact comparison sees all"
    assert set(result) == {"wins", "pairs", "difference", "low", "high", "noise", "reason", "test"}


def test_one_metric_is_decided_as_ever():
    scores = {
        "champion": [1.0, 1.2, 0.9, 1.1],
        "again": [1.2, 1.0, 1.1, 0.9],
        "challenger": [2.1, 2.2, 2.0, 2.1],
    }
    first, other = (
        decide_duel(scores, np.random.default_rng(3)),
        decide_by_metrics({"a": scores}, np.random.default_rng(3)),
    )
    assert first == other and first["wins"]


def test_more_metrics_ask_for_more_certainty():
    """Of 200 duels of equals as many are won with four metrics as with one, not four times as many."""
    won = sum(duel((0.0,) * 4, 1.0, seed)["wins"] for seed in range(200))
    assert won <= 10
    assert sum(duel((2.5, 0.0, 0.0, 0.0), 1.0, seed)["wins"] for seed in range(50)) > 25


def test_a_champion_is_not_replaced_by_a_better_score_that_costs_another_metric(tmp_path):
    from evolake.lake import BlobStore
    from evolake.programs.evolution.population import texts_bytes
    from evolake.seeds import CycleSeeds

    evaluator = """
def cases(seed):
    return [2]


def score(cases, results):
    value = results[0]["output"]
    return {"a": value, "b": value * (value > 6)}
"""
    project = apart(evaluator=evaluator, toml=TOML)
    blobs = BlobStore(tmp_path)

    def stored(name: str, text: str, a: float, b: float, **more: object) -> dict:
        return row(name, a, b, files_sha=blobs.put(texts_bytes({"initial_program.py": text})), **more)

    start = stored("0", "def double(x):\n    return 5\n", 5, 0)
    for text, a, b, wins in (("return 9", 9, 9, False), ("return 6", 6, 0, True)):
        other = stored("1", f"def double(x):\n    {text}\n", a, b)
        held = Islands(project, OWN, {item["program_id"]: item for item in (start, other)})
        seeds, population = (
            CycleSeeds(0, "programs", "0001"),
            Population.empty().add(programs=[start | {"state": "champion"}]),
        )
        decided = decide_champion(project, held, population, blobs, own=OWN, cycle_seeds=seeds, mode=None)
        assert (decided.decision["wins"], decided.decision["holder_id"]) == (wins, "1" if wins else "0"), (
            decided.decision["reason"]
        )
        assert decided.decision["holder_mean"] == (6.0 if wins else 5.0)


def test_figure_and_list_show_the_declared_metrics():
    rows = [
        row("0", 5, 5, front=True, state="champion"),
        row("1", 1, 1, front=True),
        row("2", 1, 6),
        row("3", 9, 9, state="blocked"),
    ]
    rows = [
        item | {"metrics": json.dumps(json.loads(item["metrics"]) | {"Z": item["number"]})} for item in rows
    ]
    ways = {"toy": {"b": "min", "a": "max"}}
    material = Material(["0001"], Population.empty().add(programs=rows), pl.DataFrame(), ways)
    assert draw_front(material).startswith(b"\x89PNG")
    assert draw_front(material) != draw_front(Material(["0001"], material.population, pl.DataFrame()))
    found = front_of(material, "toy")
    assert [item["program_id"] for item in found["front"]] == ["1", "0"] and found["living"] == 3
    assert lines_of(found) == [
        "toy: 2 of 3 living programs are on the front of b (lower is better), a (higher is better)",
        "  1  b 1  a 1  by number",
        "  0  b 5  a 5  by initial  champion",
    ]
