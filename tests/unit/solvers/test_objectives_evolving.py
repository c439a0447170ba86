"""The portfolio from cycle to cycle: what is written, what its trial blocks, who retires, and that an old
ranking can be made again."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from solver_runs import run_row

from evolake.agents import AgentFailure, Agents
from evolake.agents.roles import OperatorsBackend
from evolake.errors import InputError, JailUnavailable
from evolake.jail import Pool, open_pool
from evolake.objectives.score import Objective, score_table
from evolake.objectives.source import objective_id
from evolake.solvers.evolution import objective_evolution as evolving
from evolake.solvers.evolution.cycle_benchmark import voting
from evolake.solvers.evolution.objective_evolution import (
    Evolved,
    Portfolio,
    evolve_objectives,
    retired,
    reviewed,
)
from evolake.solvers.evolution.population import Population, empty_population
from evolake.solvers.objectives.portfolio import (
    first_objective,
    probes_of,
    rank_variants,
    score_variants,
    shown_reason,
)
from evolake.solvers.roles.review_models import ObjectiveReply
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables import OBJECTIVE_REVIEWS, OBJECTIVES, RUNS

SETTINGS = SolversSettings(initial_objectives=5, objectives_per_cycle=2, portfolio_size=9)
NEW = """
import math


def objective(results):
    return math.fsum(row["cpu_s"] * (1 + len(row["family"] or "") + (row["instance"] == "f0-0")) for row in results if row["expected"] == "SAT")
"""  # noqa: E501


def uneven_runs(variants: int = 5, formulas: int = 12, seed: int = 0) -> pl.DataFrame:
    """Runs of variants that are each good at something else."""
    rng = np.random.default_rng(seed)
    base, rows = rng.lognormal(0.5, 1.2, size=formulas), []
    for variant in range(variants):
        for number, seconds in enumerate(base):
            cpu_s = float(seconds * rng.lognormal(0, 0.5))
            expected = "SAT" if number % 2 else "UNSAT"
            rows.append(
                run_row(
                    f"v{variant}",
                    f"f{number % 3}-{number}",
                    expected.lower() if cpu_s <= 10 else "timeout",
                    min(cpu_s, 10.0),
                    expected=expected,
                    peak_mb=float(20 + 10 * rng.random()),
                    proof_bytes=int(1e6 * cpu_s) if expected == "UNSAT" else None,
                )
            )
    return RUNS.frame(rows)


class Saying(OperatorsBackend):
    """Gives the same replies whatever is asked, under the name `model`, and keeps what was asked."""

    name = "model"

    def __init__(self, *replies: Any):
        super().__init__("0002")
        self.replies, self.asked = list(replies), []

    def ask(self, job, record):
        self.asked.append(job.request)
        return self.replies.pop(0)


def reply(source: str, description: str = "d") -> ObjectiveReply:
    return ObjectiveReply(description=description, source=source)


def evolve(
    population: Population,
    pool: Any,
    *,
    cycle: str = "0002",
    seed: int = 1,
    backend: Any = None,
    runs: pl.DataFrame | None = None,
    settings: SolversSettings = SETTINGS,
) -> Evolved:
    with Agents(backend or OperatorsBackend(cycle), line="solvers", cycle=cycle) as agents:
        return evolve_objectives(
            agents,
            population,
            uneven_runs() if runs is None else runs,
            pool,
            settings=settings,
            cycle=cycle,
            root_seed=seed,
        )


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with open_pool(workers=1, preload=("numpy",)) as opened:
        yield opened


@pytest.fixture(scope="module")
def begun(pool) -> Population:
    """The population after a first cycle."""
    return empty_population().add(objectives=evolve(empty_population(), pool, cycle="0001").rows)


def test_the_first_cycle_draws_the_portfolio_and_asks_nobody(pool):
    backend = Saying()
    result = evolve(empty_population(), pool, cycle="0001", backend=backend)
    assert len(result.rows) == 5
    assert (result.reviews, backend.asked) == ([], [])
    assert result.rows[0]["objective_id"] == first_objective().objective_id
    small = evolve(
        empty_population(), pool, cycle="0001", settings=SETTINGS.model_copy(update={"portfolio_size": 3})
    )
    assert small.rows == result.rows[:3]


def test_cycles_on_end_add_objectives_and_keep_within_the_size(begun, pool):
    population, accepted, blocked = begun, 0, 0
    for number in range(2, 14):
        result = evolve(population, pool, cycle=f"{number:04}", runs=uneven_runs(seed=number))
        population = population.updated(objectives=OBJECTIVES.frame(result.rows).to_dicts())
        new = [row for row in result.rows if row["created_round"] == number]
        accepted += sum(row["state"] == "accepted" for row in new)
        blocked += sum(row["state"] == "blocked" for row in new)
        assert OBJECTIVE_REVIEWS.frame(result.reviews).height == len(result.reviews)
        assert len(voting(population, OBJECTIVES.empty())) <= SETTINGS.portfolio_size
    states = population.objectives["state"].value_counts()
    held = dict(states.iter_rows())
    assert accepted + blocked == 12 * SETTINGS.objectives_per_cycle
    assert accepted >= 8
    assert held["accepted"] == SETTINGS.portfolio_size
    assert held["retired"] == 5 + accepted - SETTINGS.portfolio_size
    assert first_objective().objective_id in {
        item.objective_id for item in voting(population, OBJECTIVES.empty())
    }
    assert population.objectives.filter(pl.col("state") != "accepted")["reason"].null_count() == 0


PAR2 = first_objective()
BAD = {
    "syntax": ("def objective(results:\n", "no finite number for a variant (error): SyntaxError"),
    "nothing": (
        "score = 1\n",
        "no finite number for a variant (error): the source defines no function named objective",
    ),
    "raises": (
        "def objective(results):\n    raise RuntimeError('no')\n",
        "no finite number for a variant (error): RuntimeError: no",
    ),
    "infinite": (
        "def objective(results):\n    return float('inf')\n",
        "no finite number for a variant (invalid): the score is inf",
    ),
    "shape": (
        "def objective(results):\n    return [1.0]\n",
        "no finite number for a variant (invalid): wanted a float, got a list",
    ),
    "endless": (
        "def objective(results):\n    while True:\n        pass\n",
        "no finite number for a variant (too slow): ",
    ),
    "chance": (
        "import random\ndef objective(results):\n    return random.random()\n",
        "another number for the same measurements: ",
    ),
    "clock": (
        "import time\ndef objective(results):\n    return time.perf_counter()\n",
        "another number for the same measurements: ",
    ),
    "order": (
        "import math\ndef objective(results):\n    math.seen = getattr(math, 'seen', 0) + 1\n    return "
        "math.seen\n",
        "another number for the same measurements: ",
    ),
    "constant": ("def objective(results):\n    return 1.5\n", "the same score for all variants: 1.5"),
    "copy": (PAR2.source, f"it is word for word one that votes or has voted: {PAR2.objective_id}"),
    "copy with spaces": (
        PAR2.source.replace("\n", "  \r\n"),
        f"it is word for word one that votes or has voted: {PAR2.objective_id}",
    ),
    "alike": (
        "def objective(results):\n    return sum(row['cpu_s'] if row['solved'] else 2 * row['timeout_s'] "
        "for row in results) / len(results)\n",
        f"it ranks as one does that votes: {PAR2.objective_id[:12]}, Kendall's tau 1.000",
    ),
    "control": ("def objective(results):\n    return 1.0  # \x00\n", "it holds control characters"),
}


@pytest.mark.parametrize("kind", BAD)
def test_an_objective_that_is_of_no_use_is_a_row_with_its_reason(kind, begun, pool, monkeypatch):
    if kind == "endless":
        monkeypatch.setattr("evolake.objectives.score.SECONDS", 1.0)
    source, reason = BAD[kind]
    result = evolve(begun, pool, backend=Saying(reply(source), reply(NEW)))
    blocked, accepted = (row for row in result.rows if row["cycle"] == "0002")
    assert (blocked["state"], blocked["origin"]) == ("blocked", "model")
    assert blocked["reason"].startswith(reason)
    assert (accepted["state"], accepted["objective_id"]) == ("accepted", objective_id(NEW))
    after = begun.updated(objectives=OBJECTIVES.frame(result.rows).to_dicts())
    assert {item.objective_id for item in voting(after, OBJECTIVES.empty())} == {
        *(item.objective_id for item in voting(begun, OBJECTIVES.empty())),
        objective_id(NEW),
    }


def test_a_call_without_a_reply_is_a_failure_and_the_next_goes_on(begun, pool):
    backend = Saying(AgentFailure("solvers_objective_writer", "invalid", "no JSON", 2), reply(NEW))
    with Agents(backend, line="solvers", cycle="0002") as agents:
        result = evolve_objectives(
            agents, begun, uneven_runs(), pool, settings=SETTINGS, cycle="0002", root_seed=1
        )
    assert [item.reason for item in result.failures] == ["no JSON"]
    assert [row["state"] for row in result.rows if row["cycle"] == "0002"] == ["accepted"]


def test_what_judging_one_raises_is_its_block_and_a_dead_jail_is_not(begun, pool, monkeypatch):
    def broken(*arguments: Any) -> Any:
        raise ValueError("odd")

    monkeypatch.setattr(evolving, "try_objective", broken)
    rows = [
        row
        for row in evolve(begun, pool, backend=Saying(reply(NEW), reply(NEW + "# two\n"))).rows
        if row["cycle"] == "0002"
    ]
    assert [row["state"] for row in rows] == ["blocked", "blocked"]
    assert rows[0]["reason"].startswith("judging it raised ValueError")

    def dead(*arguments: Any) -> Any:
        raise JailUnavailable("gone", do="nothing")

    monkeypatch.setattr(evolving, "try_objective", dead)
    with pytest.raises(JailUnavailable):
        evolve(begun, pool, backend=Saying(reply(NEW), reply(NEW)))


def test_a_blocked_one_is_told_without_a_word_of_its_own(begun, pool):
    source = "def objective(results):\n    raise type('Secret', (Exception,), {})(str(results[0]['cpu_s']))\n"
    backend = Saying(reply(source, "leaky"), reply(NEW))
    result = evolve(begun, pool, backend=backend)
    [row] = [row for row in result.rows if row["state"] == "blocked"]
    assert "Secret: " in row["reason"]
    assert [(item.description, item.reason) for item in backend.asked[1].blocked] == [
        ("leaky", "no finite number for a variant (error)")
    ]
    assert shown_reason("the same score for all variants: 1.5") == "the same score for all variants"


def test_an_objective_scores_in_the_cycle_that_it_is_accepted_in_and_old_rankings_can_be_made_again(
    begun, pool
):
    runs = uneven_runs()
    result = evolve(begun, pool, backend=Saying(reply(NEW), reply(BAD["constant"][0])))
    own = OBJECTIVES.frame(result.rows)

    def ranked() -> Any:
        votes = voting(begun, own)
        rows = {row["objective_id"]: row for row in [*begun.objectives.to_dicts(), *own.to_dicts()]}
        scores = score_variants(votes, runs, pool, cycle="0002")
        names = {item.objective_id for item in votes}
        return rank_variants(
            scores,
            {name: rows[name]["created_round"] for name in names},
            2,
            {name: rows[name]["multiplier"] for name in names},
        )[0]

    assert objective_id(NEW) in {item.objective_id for item in voting(begun, own)}
    before = ranked()
    population = begun.updated(objectives=own.to_dicts())
    for number in range(3, 9):
        population = population.updated(
            objectives=evolve(population, pool, cycle=f"{number:04}", runs=uneven_runs(seed=number)).rows
        )
    assert ranked() == before


def test_a_review_lowers_what_repeats_others_or_disagrees_and_lets_it_recover(pool):
    runs = uneven_runs(variants=9, formulas=20)
    probes = probes_of(runs, np.random.default_rng(0))
    sources = {
        "par2": first_objective().source,
        "upside-down": "def objective(results):\n    return -sum(row['cpu_s'] for row in results)\n",
        "seconds": "def objective(results):\n    return sum(row['cpu_s'] for row in results)\n",
        "squares": "def objective(results):\n    return sum(row['cpu_s'] ** 2 for row in results)\n",
    }
    rows: tuple[dict[str, Any], ...] = tuple(
        {
            "objective_id": name,
            "family": name,
            "created_round": 1,
            "multiplier": 0.5,
            "state": "accepted",
            "reason": None,
        }
        for name in sources
    )
    scores = score_table([Objective(name, source) for name, source in sources.items()], probes.results, pool)
    after, said = reviewed(Portfolio(rows, scores, probes, 2), runs, "0002")
    assert {row["objective_id"]: row["multiplier"] for row in after.rows} == {
        "par2": 0.55,
        "upside-down": 0.35,
        "seconds": 0.55,
        "squares": 0.55,
    }
    assert {row["objective_id"]: row["findings"] for row in said}["upside-down"][0] == "anti-correlated"


def test_those_of_the_smallest_weight_retire_and_neither_par2_nor_new_ones(begun, pool):
    probes = probes_of(uneven_runs(), np.random.default_rng(0))
    live = begun.objectives.to_dicts()
    fresh = live[0] | {
        "objective_id": objective_id(NEW),
        "source": NEW,
        "created_round": 2,
        "multiplier": 0.0,
    }
    rows: tuple[dict[str, Any], ...] = (
        *(row | {"multiplier": float(number)} for number, row in enumerate(live)),
        fresh,
    )
    scores = score_table(
        [Objective(row["objective_id"], row["source"]) for row in rows], probes.results, pool
    )
    portfolio = Portfolio(rows, scores, probes, 2)
    weights = dict(
        zip([row["objective_id"] for row in rows], portfolio.consensus().weights.tolist(), strict=True)
    )
    old = sorted((row["objective_id"] for row in live[1:]), key=weights.__getitem__)
    left = {row["objective_id"] for row in retired(portfolio, 4, "0002") if row["state"] == "retired"}
    assert left == set(old[:2])
    alone = [row["objective_id"] for row in retired(portfolio, 1, "0002") if row["state"] == "accepted"]
    assert alone == [first_objective().objective_id]
    assert retired(portfolio, 6, "0002") == list(rows)
    assert retired(replace(portfolio, rows=rows[:1]), 1, "0002") == list(rows[:1])


def test_no_objective_is_tried_on_the_holdout(begun, pool):
    backend = Saying()
    with pytest.raises(InputError, match="holdout"):
        evolve(begun, pool, runs=uneven_runs().with_columns(suite=pl.lit("holdout")), backend=backend)
    assert backend.asked == []
