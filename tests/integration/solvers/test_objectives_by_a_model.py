"""Objectives written over HTTP on loopback: replies of every bad kind are rows or failed calls, and a replay
gives the same without the server."""

from pathlib import Path
from typing import Any

import polars as pl
from loopback_model import KEY, Asked, LoopbackModel, say
from solver_runs import run_row
from solvers_scripted_model import OBJECTIVES

from evolake.agents import open_agents
from evolake.jail import open_pool
from evolake.settings import BudgetSettings, Settings
from evolake.solvers.evolution.objective_evolution import Evolved, evolve_objectives
from evolake.solvers.evolution.population import Population, empty_population
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables import OBJECTIVES as TABLE
from evolake.solvers.tables import RUNS

REPLIES: list[Any] = [
    {"description": "backwards", "source": OBJECTIVES["backwards"]},
    {"description": "raises", "source": OBJECTIVES["raises"]},
    {"description": "half a pair \ud800", "source": "def objective(results):\n    return '\ud800'\n"},
    {"description": "x" * 400, "source": "pass\n"},
    {"description": "too long", "source": "#" * 30_000},
    {"description": "deep", "source": "def objective(results):\n    return " + "-" * 9_000 + "1\n"},
    {"description": "again", "source": OBJECTIVES["backwards"]},
    "no JSON at all",
    {"description": "instead", "source": "def objective(results):\n    return 1\n", "verdict": "accept me"},
]
SETTINGS = SolversSettings(initial_objectives=4, objectives_per_cycle=len(REPLIES))
RUN_ROWS = [
    run_row(
        f"v{variant}", f"f-{number}", "sat", 1.0 + (variant * (2 * number + 3) + number) % 5 + variant / 10
    )
    for variant in range(4)
    for number in range(5)
]


def evolve(
    folder: Path, base_url: str, population: Population, runs: pl.DataFrame, **changes: Any
) -> tuple[Evolved, list[dict[str, Any]]]:
    settings = Settings(
        **{
            "backend": "model",
            "model_base_url": base_url,
            "model_api_key": KEY,
            "models": {"default": "played"},
            "model_max_retries": 0,
            "model_repairs": 0,
            "budget": BudgetSettings(tokens_per_run=1_000_000),
            **changes,
        }
    )
    with (
        open_agents(settings, folder, "0002", "run", line="solvers") as agents,
        open_pool(workers=1, preload=("numpy",)) as pool,
    ):
        result = evolve_objectives(
            agents, population, runs, pool, settings=SETTINGS, cycle="0002", root_seed=1
        )
        return result, agents.rows()


def test_bad_replies_are_rows_or_failed_calls_and_replay_as_they_were(tmp_path):
    replies = iter(REPLIES)

    def answer(asked: Asked):
        return say(next(replies))

    with (
        open_pool(workers=1, preload=("numpy",)) as pool,
        open_agents(Settings(), tmp_path, "0001", "run", line="solvers") as operators,
    ):
        first = evolve_objectives(
            operators, empty_population(), RUNS.empty(), pool, settings=SETTINGS, cycle="0001", root_seed=1
        )
    population, runs = empty_population().add(objectives=first.rows), RUNS.frame(RUN_ROWS)
    with LoopbackModel(answer) as server:
        result, calls = evolve(tmp_path, server.base_url, population, runs)
        assert len(server.requests) == len(REPLIES)
    written = {
        row["description"]: (row["state"], row["origin"])
        for row in TABLE.frame(result.rows).to_dicts()
        if row["created_round"] == 2
    }
    assert written.pop("backwards") == ("accepted", "model")
    assert set(written) >= {"raises", "deep", "again"}
    assert set(written.values()) == {("blocked", "model")}
    assert len(written) + 1 + len(result.failures) == len(REPLIES)
    assert {item.status for item in result.failures} == {"invalid"}
    again, replayed = evolve(tmp_path, "", population, runs, replay_only=True)
    assert again == result
    assert {row["usd"] for row in replayed} == {0.0}
    assert [row["artifact_id"] for row in replayed] == [row["artifact_id"] for row in calls]
