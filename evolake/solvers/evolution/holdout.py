"""What the champion and its seed do on formulas that nothing of the cycle rests on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

import polars as pl

from evolake.gates import Verdict
from evolake.solvers.evolution.benchmarking import measuring_plan
from evolake.solvers.evolution.champion import champion_after
from evolake.solvers.evolution.population import RankedCycle
from evolake.solvers.evolution.workspace import Workspace
from evolake.solvers.gates.soundness import Judge, unsound_in
from evolake.solvers.measurement.benchmark import plan_jobs, run_jobs
from evolake.solvers.suites import Suite
from evolake.solvers.tables import CLOCK, HOLDOUT_RUNS


def measure_holdout(
    workspace: Workspace,
    ranked: RankedCycle,
    decisions: Sequence[Mapping[str, Any]],
    executor: Executor,
    *,
    cycle: str,
    judge: Judge,
    unsound: Collection[str] = (),
) -> tuple[pl.DataFrame, list[Verdict]]:
    """Return rows of HOLDOUT_RUNS of the champion and of its seed, where they are not measured yet, and
    verdicts on them. Every proof is checked; a champion that is found unsound falls, and the next one is
    measured.
    """
    settings, fallen, population, rows = workspace.settings, set(unsound), ranked.population, ranked.rows
    suite = workspace.suite("holdout")
    have = _measured(population.holdout.filter(pl.col("timeout_s") == settings.timeout_s), suite)
    result = HOLDOUT_RUNS.empty()
    while True:
        champion_id = champion_after(ranked, decisions, fallen)
        pair = [rows[champion_id], population.seed_of(rows[champion_id]["base"])]
        programs = {
            row["variant_id"]: workspace.program(row) for row in pair if row["variant_id"] not in have
        }
        plan = measuring_plan(workspace, cycle, frozenset(programs), settings.holdout_repeats)
        jobs = plan_jobs(programs, suite, plan, cycle=cycle)
        more = run_jobs(jobs, executor, journal=workspace.journal("holdout", cycle), schema=HOLDOUT_RUNS)
        result, have = pl.concat([result, more]), have | set(programs)
        verdicts = judge(result.to_dicts())
        fallen |= unsound_in(verdicts)
        if champion_id not in fallen:
            return result, verdicts


def _measured(runs: pl.DataFrame, suite: Suite) -> set[str]:
    """Variants that have a result on every formula of the suite, byte for byte."""
    asked = {item.sha for item in suite.instances}
    held = runs.filter(pl.col("status") != CLOCK).group_by("variant_id").agg(pl.col("formula_sha").unique())
    return {name for name, shas in held.iter_rows() if asked <= set(shas)}
