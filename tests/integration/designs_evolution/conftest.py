"""One warm jail pool and one set of rules for the tests of this folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import pytest
from designs_runs import Inline

from evolake.designs.evolution.judging import DesignGates, DesignResults
from evolake.designs.evolution.judging_objectives import JudgeObjective, objective_judge, trial_context
from evolake.designs.evolution.population import Population
from evolake.designs.evolution.proposals import Judge
from evolake.designs.evolution.scoring import live_objectives
from evolake.designs.model.contract import HyperValue
from evolake.designs.settings import DesignsSettings, FidelitySettings
from evolake.designs.tracing.trace import PRELOAD
from evolake.gates import load_rules
from evolake.jail import open_pool
from evolake.project import BROUGHT

TINY = DesignsSettings(
    batch=8,
    designs_per_cycle=3,
    directions_per_cycle=2,
    objectives_per_cycle=1,
    initial_objectives=3,
    tuning_trials=4,
    champion_repeats=2,
    meta_review_every=2,
    low=FidelitySettings(max_n=28, max_steps=400, core_s=60),
    medium=FidelitySettings(max_n=40, max_steps=800, core_s=60),
    high=FidelitySettings(max_n=40, max_steps=1600, core_s=60),
)


@pytest.fixture(scope="package")
def pool() -> Iterator[Any]:
    with open_pool(workers=1, preload=(*PRELOAD, "scipy")) as opened:
        yield opened


@pytest.fixture
def tiny() -> DesignsSettings:
    """A schedule that ends within a second a design."""
    return TINY


@pytest.fixture(scope="package")
def judge_at(pool) -> Callable[[str], Judge]:
    """The gates of the line with its shipped rules, for one cycle."""
    rules = load_rules(BROUGHT / "data_lake" / "seeds" / "rules", "designs")

    def at(cycle: str) -> Judge:
        return DesignGates(pool, rules, TINY, cycle, "test")

    return at


@pytest.fixture(scope="package")
def judge_objectives(pool) -> Callable[[Population], JudgeObjective]:
    """The objectives' gate with its shipped rules, on the results of a population."""
    rules = load_rules(BROUGHT / "data_lake" / "seeds" / "rules", "designs")

    def on(population: Population) -> JudgeObjective:
        context = trial_context(population.results(), live_objectives(population), pool)
        return objective_judge(context, pool, ruleset=rules, cycle="0001", run_id="test")

    return on


@pytest.fixture(scope="package")
def judge_once(judge_at) -> Judge:
    """The gates for cycle 0001, each question asked once: for what every test of a file starts from, not for
    what one asserts of the gates."""
    made: dict[str, DesignResults] = {}

    def judge(source: str, hyper: Mapping[str, HyperValue], known: Mapping[str, str]) -> DesignResults:
        question = json.dumps([source, dict(hyper), dict(known)], sort_keys=True)
        if question not in made:
            made[question] = judge_at("0001")(source, hyper, known)
        return made[question]

    return judge


@pytest.fixture
def inline() -> Executor:
    return Inline()


@pytest.fixture(scope="session")
def seed_files() -> dict[str, Path]:
    """The shipped design files."""
    folder = BROUGHT / "data_lake" / "seeds"
    return {
        "baseline": folder / "designs" / "baseline.py",
        "design_340": folder / "reference_designs" / "design_340.py",
    }
