"""Run variants on suites: jobs planned from plain data, sent to an executor, finished rows kept as they come.

The executor is any `concurrent.futures.Executor`: a process pool here,
`dask.distributed.Client.get_executor()` on a cluster whose hosts see the same files. Rows are the same
whichever it is. A benchmark that is killed continues where it stopped: each finished row is appended to a
journal, and jobs whose rows are there are not run again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from evolake.journal import run_journaled
from evolake.lake.schemas import TableSchema
from evolake.settings import Settings
from evolake.solvers.execute import STABILITY_LIMITS, Program, RunLimits, alike
from evolake.solvers.measurement.measuring import Job, measure, usable_cores
from evolake.solvers.proof import ProofLimits
from evolake.solvers.proof.checking import new_key
from evolake.solvers.settings import SolversSettings
from evolake.solvers.suites import Suite
from evolake.solvers.tables import CLOCK, RUNS

Progress = Callable[[int, int, Mapping[str, Any]], None]
"""Called after each row with how many are done, how many there are, and the row."""

WALL_FACTOR, WALL_EXTRA_S = 3.0, 10.0


@dataclass(frozen=True)
class MeasuringPlan:
    """How to measure. proof_share: share of UNSAT answers whose proofs are checked, the others count as
    unsolved; draw: the key of that draw, see `checking`. champions: variants of which every proof is checked,
    twice where two independent checkers exist. repeats: runs of each formula. verdicts: see `proof_cache`."""

    limits: RunLimits
    proof_share: float = 1.0
    champions: frozenset[str] = frozenset()
    proof_limits: ProofLimits = field(default_factory=ProofLimits)
    repeats: int = 1
    cores: tuple[int, ...] | None = None
    scratch: Path | None = None
    verdicts: Path | None = None
    draw: bytes = field(default_factory=new_key, repr=False)


@dataclass(frozen=True)
class StageLimits:
    """Limits of runs in the smoke gate, in the stability gate, and in all other stages, and of the check of a
    proof."""

    smoke: RunLimits
    stability: RunLimits
    run: RunLimits
    proof: ProofLimits


@dataclass(frozen=True)
class MeasuringOptions:
    """How a command measures. None: as the profile, or the settings, have it."""

    timeout_s: float | None = None
    repeats: int = 1
    workers: int | None = None
    profile: str | None = None

    def plan(self, sizes: SolversSettings, cache: Path, draw: bytes | None = None) -> MeasuringPlan:
        """Return how to measure under these sizes. cache: has the verdicts on proofs."""
        limits = stage_limits(sizes, self.timeout_s)
        return MeasuringPlan(
            limits.run,
            repeats=self.repeats,
            proof_limits=limits.proof,
            verdicts=cache / "proofs",
            draw=draw or new_key(),
        )

    def processes(self, settings: Settings) -> int:
        """Return how many runs there are at the same time: at most one per core."""
        return min(self.workers or settings.workers, len(usable_cores()))


def stage_limits(sizes: SolversSettings, timeout_s: float | None = None) -> StageLimits:
    """Return the limits that a profile sets; a program can read the same ones in all stages. timeout_s: of
    runs, in place of the profile's."""
    smoke, stability, run = alike(
        run_limits(sizes.smoke_timeout_s, sizes.memory_mb, sizes.proof_mb),
        STABILITY_LIMITS,
        run_limits(timeout_s or sizes.timeout_s, sizes.memory_mb, sizes.proof_mb),
    )
    largest = max(item.proof_mb for item in (smoke, stability, run))
    return StageLimits(
        smoke, stability, run, ProofLimits(sizes.proof_timeout_s, sizes.proof_memory_mb, largest)
    )


def run_limits(timeout_s: float, memory_mb: int, proof_mb: int = 512) -> RunLimits:
    """Return limits of a measured run: cpu time decides, the clock is only a guard."""
    return RunLimits(
        cpu_s=timeout_s, wall_s=WALL_FACTOR * timeout_s + WALL_EXTRA_S, memory_mb=memory_mb, proof_mb=proof_mb
    )


def plan_jobs(programs: Mapping[str, Program], suite: Suite, plan: MeasuringPlan, *, cycle: str) -> list[Job]:
    """Return jobs of all variants on all formulas, formula by formula, so that a drift of the host's speed
    falls on all variants.

    Args:
        programs: variant id -> its built solver.
    """
    return [
        Job(
            variant_id=variant,
            program=programs[variant],
            instance=item,
            suite=suite.name,
            cycle=cycle,
            limits=plan.limits,
            repeat=repeat,
            proof_share=1.0 if variant in plan.champions else plan.proof_share,
            second_checker=variant in plan.champions,
            proof_limits=plan.proof_limits,
            cores=plan.cores,
            scratch=plan.scratch,
            verdicts=plan.verdicts,
            draw=plan.draw,
        )
        for repeat in range(plan.repeats)
        for item in suite.instances
        for variant in sorted(programs)
    ]


def run_jobs(
    jobs: Sequence[Job],
    executor: Executor,
    *,
    journal: Path | None = None,
    on_progress: Progress | None = None,
    schema: TableSchema = RUNS,
    run: Callable[[Job], dict[str, Any]] = measure,
) -> pl.DataFrame:
    """Return rows of RUNS (or of the table of the same columns given as `schema`) in the order of `jobs`.

    Args:
        journal: see `journal.run_journaled`. run: what measures one job; a module's function, as it travels
            to the executor's workers.

    Raises:
        What the machinery raises, after pending jobs were cancelled; finished rows are in the journal.
    """
    columns = set(RUNS.columns)

    def is_row(value: Any) -> bool:
        return isinstance(value, dict) and set(value) == columns and value["status"] != CLOCK

    return schema.frame(
        run_journaled(jobs, executor, run, journal=journal, fits=is_row, on_progress=on_progress)
    )
