"""The same seed gives the same rows however busy the host is: what ends a run of a design is counted. A whole
cycle on a busy host is in test_designs_line.py."""

import json
from concurrent.futures import ThreadPoolExecutor

from busy_host import busy_host
from unit.designs_engine.engine_support import BASELINE, DESIGN_340, traced

from evolake.designs.engines import isolated
from evolake.designs.evolution.design_contest import Contender, decide_champion
from evolake.designs.evolution.experiments import Job, run_jobs
from evolake.designs.settings import DesignsSettings, FidelitySettings
from evolake.designs.tables import DECISIONS, DUELS, EXPERIMENTS
from evolake.lake.hashing import content_hash
from evolake.seeds import CycleSeeds

LEVEL = FidelitySettings(max_n=113, max_steps=12_000, core_s=0.1)
LIMITED = DesignsSettings(
    batch=20, n_start=57, steps_start=6000, champion_repeats=2, low=LEVEL, medium=LEVEL, high=LEVEL
)
"""Seconds of a core that do not suffice for the largest size, and do for the smaller ones."""


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


def test_experiments_and_duels_are_the_same_beside_processes_that_take_the_processor(monkeypatch):
    """With the clock as near as the run is counted for; `test_designs_isolated.py` tries what happens to a
    run that starves all the same."""
    idle = measured(LIMITED)
    monkeypatch.setattr(isolated, "CORE_TIMES", 2.0)
    with busy_host(2):
        assert measured(LIMITED) == idle
