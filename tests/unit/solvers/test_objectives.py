"""Objectives over benchmark runs: each sees what it says it sees, and all of them together rank better
variants first."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest
from solver_runs import run_row

from evolake.jail import Pool, open_pool
from evolake.objectives.source import assemble
from evolake.solvers.objectives.families.runs import WORST
from evolake.solvers.objectives.portfolio import (
    FAMILIES,
    FOLDER,
    HELPERS,
    SHOWN,
    first_objective,
    initial_portfolio,
    rank_variants,
    results_of,
    score_variants,
)
from evolake.solvers.tables import RUNS, SCORES

SPEEDS = {"best": 0.6, "good": 0.8, "plain": 1.0, "slow": 1.4}


def random_runs(seed: int = 0, speeds: dict[str, float] | None = None) -> pl.DataFrame:
    """Runs of variants that differ by a factor in everything, each formula with a shuffled copy; timeouts
    where it is past 10 s."""
    rng = np.random.default_rng(seed)
    base = rng.lognormal(0.3, 1.2, size=24)
    rows = []
    for variant, factor in (speeds or SPEEDS).items():
        for number, seconds in enumerate(base):
            for shuffle in (0, 1):
                cpu_s = float(seconds * factor * rng.lognormal(0, 0.02))
                expected = "SAT" if number % 2 else "UNSAT"
                status = expected.lower() if cpu_s <= 10 else "timeout"
                name = f"f{number % 4}-{number}" + (f"~{shuffle}" if shuffle else "")
                rows.append(
                    run_row(
                        variant,
                        name,
                        status,
                        min(cpu_s, 10.0),
                        expected=expected,
                        shuffle=shuffle,
                        conflicts=int(5000 * cpu_s),
                        decisions=int(9000 * cpu_s),
                        peak_mb=20 + 10 * cpu_s,
                        proof_bytes=int(1e6 * cpu_s),
                    )
                )
    return RUNS.frame(rows)


def call(family: str, results: list[dict[str, Any]], **parameters: float) -> float:
    """Runs a family's own text, as the jail does."""
    namespace: dict[str, Any] = {}
    exec(assemble(family, parameters, folder=FOLDER, helpers=HELPERS), namespace)
    return namespace["objective"](results)


def results(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    return results_of(RUNS.frame(rows))[rows[0]["variant_id"]]


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_family_ranks_uniformly_faster_variants_first(family):
    shown = results_of(random_runs())
    scores = {variant: call(family, shown[variant]) for variant in SPEEDS}
    assert sorted(scores, key=scores.__getitem__) == list(SPEEDS)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_family_stands_odd_results(family):
    assert call(family, []) == WORST
    bare = [
        {
            "instance": "a",
            "cpu_s": 1.0,
            "timeout_s": 10.0,
            "solved": True,
            "status": "sat",
            "expected": "SAT",
            "conflicts": 3,
        }
    ]
    assert np.isfinite(call(family, bare))
    assert np.isfinite(call(family, [*bare, {"instance": "b", "cpu_s": None, "timeout_s": 10.0}, {}]))


@pytest.mark.parametrize("family", sorted(set(FAMILIES) - {"sat_side", "unsat_side", "derivation", "memory"}))
def test_a_wrong_answer_is_never_better_than_a_timeout(family):
    sound = [run_row("v", f"a-{number}", "unsat", 1.0) for number in range(3)]
    wrong = run_row("v", "b", "wrong", 0.1, expected="SAT", answer="UNSAT")
    late = run_row("v", "b", "timeout", 10.0, expected="SAT")
    assert call(family, results(*sound, wrong)) >= call(family, results(*sound, late))


def test_objectives_see_nothing_that_a_variant_says_of_its_own_effort():
    honest, forged = (
        results(run_row("v", "a", "unsat", 1.0, conflicts=count, decisions=2 * count))
        for count in (64_000, 1_000)
    )
    assert honest == forged
    assert not {"conflicts", "decisions", "propagations", "restarts", "instructions"} & set(SHOWN)


def test_par2_is_the_competitions_measure():
    rows = results(run_row("v", "a", "sat", 3.0), run_row("v", "b", "timeout", 10.0))
    assert call("par2", rows) == 11.5
    assert first_objective().family == "par2"


def test_objectives_see_no_identity_no_host_and_no_clock():
    assert not {"variant_id", "wall_s", "host", "cycle", "formula_sha", "seed"} & set(SHOWN)
    shown = results_of(random_runs())
    assert set(shown) == set(SPEEDS)
    assert {key for row in shown["best"] for key in row} == set(SHOWN)
    assert results_of(random_runs().sample(fraction=1.0, shuffle=True, seed=1)) == shown


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with open_pool(workers=1, preload=("numpy",)) as opened:
        yield opened


def test_the_consensus_ranks_all_variants_from_scores_made_in_the_jail(pool):
    portfolio = initial_portfolio(np.random.default_rng(4), 7)
    scores = score_variants(portfolio, random_runs(), pool, cycle="0003")
    assert SCORES.validate(scores).height == 7 * 4
    assert scores["status"].unique().to_list() == ["ok"]
    standings, result = rank_variants(scores, {spec.objective_id: 1 for spec in portfolio}, now=3)
    assert [(item.variant_id, item.rank) for item in standings] == [
        ("best", 1),
        ("good", 2),
        ("plain", 3),
        ("slow", 4),
    ]
    assert abs(result.result.weights.sum() - 1.0) < 1e-12


def test_an_objective_that_fails_is_outvoted(pool):
    class Broken:
        objective_id = "broken"
        source = "def objective(results):\n    raise RuntimeError('no')\n"

    portfolio = [*initial_portfolio(np.random.default_rng(4), 3), Broken()]
    scores = score_variants(portfolio, random_runs(), pool, cycle="0003")
    assert scores.filter(pl.col("objective_id") == "broken")["reason"].unique().to_list() == [
        "RuntimeError: no"
    ]
    standings, _ = rank_variants(scores, {spec.objective_id: 1 for spec in portfolio}, now=3)
    assert [item.variant_id for item in standings] == list(SPEEDS)
