"""The same seed gives the same rows however busy the host is: what ends a run of a design is counted."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from busy_host import busy_host
from designs_fixtures import open_project
from project_steps import contents, run_here
from unit.designs_engine.engine_support import BASELINE, DESIGN_340, traced

from evolake.cycle_seeds import CycleSeeds
from evolake.designs.engines import isolated
from evolake.designs.evolution.design_contest import Contender, decide_champion
from evolake.designs.evolution.experiments import Job, run_jobs
from evolake.designs.settings import DesignsSettings, FidelitySettings
from evolake.designs.tables import DECISIONS, DUELS, EXPERIMENTS
from evolake.lake.hashing import content_hash

LEVEL = FidelitySettings(max_n=113, max_steps=12_000, core_s=0.3)
LIMITED = DesignsSettings(
    batch=60, n_start=57, steps_start=6000, champion_repeats=3, low=LEVEL, medium=LEVEL, high=LEVEL
)
"""Seconds of a core that do not suffice for the largest size, and do for the smaller ones."""
TIMED = "survivors__evaluations"
"""The table that holds the times of runs as its content."""


def measured(settings: DesignsSettings) -> dict[str, str]:
    """Table -> hash of its content as a lake has it, which leaves times out, of two designs' experiments and
    of their duel."""
    designs = {
        name: json.dumps(traced(path.read_text()).to_json())
        for name, path in (("baseline", BASELINE), ("340", DESIGN_340))
    }
    with ThreadPoolExecutor(1) as pool:
        rows = run_jobs(
            pool, [Job(name, text, "low", "0001", "test", 7, settings) for name, text in designs.items()]
        )
        challenger, baseline = (Contender(name, designs[name], 40) for name in ("340", "baseline"))
        duel = decide_champion(
            challenger,
            baseline,
            baseline,
            executor=pool,
            settings=settings,
            profile="test",
            cycle_seeds=CycleSeeds(1, "designs", "0001"),
        )
    assert not any(row["timed_out"] for row in [*rows, *duel.trials])
    held = ((EXPERIMENTS, rows), (DUELS, duel.trials), (DECISIONS, duel.decisions))
    return {schema.name: content_hash(schema.frame(result), schema.provenance) for schema, result in held}


def test_experiments_and_duels_are_the_same_beside_processes_that_take_the_processor(
    monkeypatch: pytest.MonkeyPatch,
):
    """With the clock as near as the run is counted for; `test_designs_isolated.py` tries what happens to a
    run that starves all the same."""
    idle = measured(LIMITED)
    monkeypatch.setattr(isolated, "CORE_TIMES", 2.0)
    with busy_host(2):
        assert measured(LIMITED) == idle


@pytest.mark.long
def test_a_cycle_is_the_same_on_an_idle_and_on_a_busy_host(tmp_path: Path):
    settings = {
        "EVOLAKE_SEED": "3",
        "EVOLAKE_DESIGNS__DESIGNS_PER_CYCLE": "2",
        "EVOLAKE_DESIGNS__TUNING_TRIALS": "0",
        "EVOLAKE_DESIGNS__BATCH": "12",
        "EVOLAKE_DESIGNS__CHAMPION_REPEATS": "3",
        "EVOLAKE_DESIGNS__LOW__MAX_N": "40",
        "EVOLAKE_DESIGNS__MEDIUM__MAX_N": "57",
        "EVOLAKE_DESIGNS__HIGH__MAX_N": "80",
    }

    (tmp_path / "idle").mkdir()
    project = open_project(tmp_path / "idle", **settings)
    run_here(project, "designs", 0)  # the seeds, of which nothing is measured, once
    shutil.copytree(tmp_path / "idle", tmp_path / "busy", ignore=shutil.ignore_patterns("home"))

    def parts(name: str) -> dict[tuple[str, str], str]:
        isolated.close()  # what computes is started anew, on the processor of this thread
        project = open_project(tmp_path / name, **settings)
        run_here(project, "designs")
        return {
            (asset, cycle): sha
            for (asset, cycle), sha in contents(project, "designs").items()
            if asset != TIMED and "agent_calls" not in asset
        }

    idle = parts("idle")
    assert len(idle) > 10
    with busy_host(1):
        assert parts("busy") == idle
