"""Tuning a real design on a tiny schedule."""

import json
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

import pytest

from evolake.designs.evolution.population import design_id_of
from evolake.designs.evolution.proposals import Judge, derivation_rows, design_row
from evolake.designs.evolution.tuning import Tuner, should_tune, tune_design, tuning_target
from evolake.designs.genome.open_compose import compose
from evolake.designs.genome.open_genetic import parent_of
from evolake.designs.genome.open_genome import baseline
from evolake.designs.genome.variation import Parent, Scale
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import TUNING
from evolake.seeds import CycleSeeds

BASE = parent_of("b" * 64, "baseline", baseline())


def fewest_steps(results: Mapping[str, list[dict[str, Any]]]) -> dict[str, float]:
    """Stands for the consensus: the sum of median steps, scaled to 0..1."""
    return {
        name: min(1.0, sum(row["median_step"] for row in rows) / 2000) if rows else 1.0
        for name, rows in results.items()
    }


def tune(
    parent: Parent,
    estimate: Callable,
    pool: Any,
    judge: Judge,
    executor: Executor,
    settings: DesignsSettings,
    seed: int = 1,
):
    return tune_design(
        Tuner(estimate, pool, judge, executor, {}, "test"),
        parent,
        settings=settings,
        cycle_seeds=CycleSeeds(seed, "designs", "0003"),
    )


def test_a_trial_that_wins_becomes_a_copy_with_one_parent(pool, judge_at, inline, tiny):
    settings = tiny.model_copy(update={"tuning_trials": 8})
    result = tune(BASE, fewest_steps, pool, judge_at("0003"), inline, settings)
    assert [row["trial"] for row in result.rows] == list(range(9))
    assert json.loads(result.rows[0]["hyper_values"]) == baseline().values()
    assert TUNING.repeated_keys(TUNING.frame(result.rows)).is_empty()
    best = min(row["consensus"] for row in result.rows)
    assert best < result.rows[0]["consensus"]
    copy = result.candidate
    assert copy is not None and copy.accepted and copy.traced is not None and copy.genome is not None
    winner = next(row for row in result.rows if row["consensus"] == best)
    assert copy.genome.values() == pytest.approx(json.loads(winner["hyper_values"]))
    assert copy.design_id == design_id_of(copy.traced)
    assert derivation_rows(copy, "0003") == [
        {
            "child_id": copy.design_id,
            "parent_id": "b" * 64,
            "operator": "tuning",
            "weight": 1.0,
            "cycle": "0003",
        }
    ]
    row = design_row(copy, "0003", "s", "t", tuned=True)
    assert (row["tuned"], row["origin"], row["state"]) == (True, "tuning", "accepted")


def test_the_outcome_depends_on_the_seed_and_not_on_the_workers(pool, judge_at, inline, tiny):
    first = tune(BASE, fewest_steps, pool, judge_at("0003"), inline, tiny)
    with ThreadPoolExecutor(3) as threads:
        second = tune(BASE, fewest_steps, pool, judge_at("0003"), threads, tiny)
    other = tune(BASE, fewest_steps, pool, judge_at("0003"), inline, tiny, seed=2)
    assert first.rows == second.rows
    assert [row["hyper_values"] for row in other.rows[1:]] != [row["hyper_values"] for row in first.rows[1:]]


def test_where_no_trial_wins_nothing_is_added_and_the_reason_says_so(pool, judge_at, inline, tiny):
    settings = tiny.model_copy(update={"tuning_trials": 2})
    result = tune(BASE, lambda results: dict.fromkeys(results, 0.5), pool, judge_at("0003"), inline, settings)
    assert result.candidate is None
    assert result.reason == "none of 2 trials beat baseline as it is (consensus 0.5)"


def test_a_file_keeps_its_text_and_gets_values_of_every_type(pool, judge_at, inline, tiny):
    source = (
        compose(baseline())
        .replace(
            "HYPER_SPACE = {",
            'HYPER_SPACE = {\n    "power": dict(type="int", default=1, low=1, high=3),\n'
            '    "sign": dict(type="categorical", default="plain", choices=["plain", "bent"]),',
        )
        .replace("(c - hp.delta)", '(c ** hp.power - hp.delta if hp.sign == "plain" else c - hp.delta)')
    )
    scales = (
        Scale("power", "int", 1, 3),
        Scale("sign", "categorical", choices=("plain", "bent")),
        Scale("lr", "log_uniform", 0.1, 6.0),
        Scale("gamma", "uniform", 0.02, 0.5),
    )
    parent = Parent(
        "f" * 64, "from a file", source, {"power": 1, "sign": "plain", **baseline().values()}, scales
    )
    result = tune(
        parent,
        fewest_steps,
        pool,
        judge_at("0003"),
        inline,
        tiny.model_copy(update={"tuning_trials": 6}),
        seed=5,
    )
    assert all(row["status"] == "ok" for row in result.rows)
    seen = [json.loads(row["hyper_values"]) for row in result.rows]
    assert {type(values["power"]) for values in seen} == {int}
    assert {values["sign"] for values in seen} <= {"plain", "bent"}
    if result.candidate is not None:
        assert result.candidate.source == source
        assert result.candidate.genome is None and dict(result.candidate.hyper) in seen


def test_the_target_is_the_best_design_that_was_neither_tuned_nor_tried(tiny):
    from evolake.designs.evolution.population import empty_population

    names = [letter * 64 for letter in "abcd"]
    rows = [
        {
            "design_id": name,
            "state": "accepted",
            "title": name,
            "tuned": name == names[0],
            "hyper_values": '{"lr": 1.0}',
        }
        for name in names
    ]
    edges = [
        {"child_id": names[0], "parent_id": names[1], "operator": "tuning", "weight": 1.0, "cycle": "0001"}
    ]
    population = empty_population().admit(rows, edges)
    assert tuning_target(population, names) == names[2]
    assert tuning_target(population.with_values(tuning_tried=[names[2]]), names) == names[3]
    assert should_tune(population, tiny.model_copy(update={"tuned_share": 0.3}))
    assert not should_tune(population, tiny.model_copy(update={"tuned_share": 0.2}))
    assert not should_tune(population, tiny.model_copy(update={"tuned_share": 1.0, "tuning_trials": 0}))
