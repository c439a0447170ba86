"""Run designs through the schedule, many at a time, on any `concurrent.futures.Executor`.

Common random numbers. The instances of a size, and the start of the variables on them, come from one seed
keyed by a root seed and N alone, not by the cycle. So all designs of all cycles meet the same instances: a
stored score stays comparable for ever, a difference between two designs is not a difference in luck, and a
level that is tried again with twice the steps repeats its first half exactly. The root follows from the
secret of the lake (`evolake.lake.secret`): only who has read a lake's rows can write a design for its
instances. The price is that a long run may fit them; hence the champion is decided on seeds that exist only
after all designs of the cycle are stored (`design_contest.py`).

Rows do not depend on the number of workers, on who finishes first, or on how busy the machine is: what ends a
run is counted. A run that starves on a busy machine is begun again; one that a clock cut all the same says so
(`timed_out`) and counts as not measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from evolake.compute.needs import trusted
from evolake.designs.engines.counted import counted_s
from evolake.designs.evolution.schedule import (
    MOST_STEPS_PER_WORK,
    Fidelity,
    Level,
    is_solved,
    latest_levels,
    limits_of,
    next_level,
)
from evolake.designs.model.instances import FormulaKind, uniform_kind
from evolake.designs.settings import DesignsSettings
from evolake.designs.work.rows import max_work, median_work, per_step
from evolake.errors import InputError, MachineryError
from evolake.seeds import child_seed

LINE = "designs"
EVERY_CYCLE = "*"
INSTANCES = "instances"
LEAST_CORE_S = 0.01
PAPER_BATCH = 100
"""Instances of the paper's experiments. Where a batch is as large, its rule is followed as well: the step at
which half are solved at the same time."""
OBJECTIVE_KEYS = (
    "design_id",
    "batch",
    "N",
    "ratio",
    "run_till_median",
    "unsolved_fraction",
    "seed",
    "fidelity",
)


class Measured(Protocol):
    """What a simulation gives back (`evolake.designs.engines.engine.Simulation`)."""

    @property
    def median_step(self) -> int:
        """Return the median number of steps to a solution."""
        ...

    @property
    def unsolved_fraction(self) -> float:
        """Return the share of instances that were not solved, 0 to 1."""
        ...

    @property
    def steps_run(self) -> int:
        """Return the number of steps that were run."""
        ...

    @property
    def cpu_s(self) -> float:
        """Return the processor time, seconds."""
        ...

    @property
    def wall_s(self) -> float:
        """Return the wall time, seconds."""
        ...

    @property
    def engine(self) -> str:
        """Return the name of the engine."""
        ...

    @property
    def timed_out(self) -> bool:
        """Return whether the clock ended the run."""
        ...

    @property
    def diverged(self) -> int:
        """Return how many instances left the finite numbers."""
        ...

    @property
    def failure(self) -> str | None:
        """Return why the run failed, or None."""
        ...

    @property
    def work_per_step(self) -> float:
        """Return the work per step."""
        ...

    @property
    def together_step(self) -> int | None:
        """Return the first step at which more than half of the batch was solved at the same time, or None."""
        ...

    @property
    def left_again(self) -> int | None:
        """Return how many of the solved instances had been left again by the last step, or None."""
        ...

    @property
    def limit(self) -> int:
        """Return the limit on the number of steps."""
        ...


@dataclass(frozen=True)
class Job:
    """One design to run at one fidelity. `traced` is TracedDesign's JSON text, `earlier` the design's rows so
    far, `threads` how many its engine may use; they change no row but its times."""

    design_id: str
    traced: str
    fidelity: Fidelity
    cycle: str
    profile: str
    root_seed: int
    settings: DesignsSettings
    earlier: tuple[Mapping[str, Any], ...] = field(default=())
    threads: int = 1


Simulate = Callable[..., Measured]
"""Called as `simulate_level` is; with `threads` only where a job has more than one."""


def instance_seed(root_seed: int, n: int) -> int:
    """Return the seed of size `n`, the same for every design and cycle under one root seed."""
    return child_seed(root_seed, LINE, EVERY_CYCLE, INSTANCES, n)


def uniform_seed(root_seed: int, n: int) -> int:
    """Return the seed of the uniform formulas of size `n`, the same for every design and cycle under one root
    seed."""
    return child_seed(root_seed, LINE, EVERY_CYCLE, f"uniform {INSTANCES}", n)


def uniform_batch(settings: DesignsSettings) -> int:
    """Return the number of uniform formulas of an experiment: their share of both kinds, where the planted
    ones are a batch."""
    return max(1, round(settings.batch * settings.uniform.share / (1 - settings.uniform.share)))


@trusted
def simulate_level(
    traced: str,
    n: int,
    max_work: int,
    seed: int,
    core_s: float,
    settings: DesignsSettings,
    *,
    threads: int = 1,
    kind: FormulaKind | None = None,
) -> Measured:
    """Run one traced design on `settings.batch` formulas of `n` variables, planted ones unless a kind is
    given; the engine is the fastest that fits the graph.

    max_work: in steps of the baseline. core_s: as for `evolake.designs.engines.engine.simulate`.

    It runs in a child of this process, which may die of it or be stopped: that is the design's result then
    (`Measured.failure`).
    """
    from evolake.designs.engines.engine import unsolved
    from evolake.designs.engines.isolated import Run, run_apart

    kind = kind or FormulaKind(ratio=settings.ratio)
    run = Run(
        traced,
        n,
        settings.batch,
        seed,
        MOST_STEPS_PER_WORK * max_work,
        instance_seed=seed,
        ratio=kind.ratio,
        max_work=max_work,
        core_s=core_s,
        together=settings.batch == PAPER_BATCH,
        threads=threads,
        computed="unsolved",
        kind=kind.name,
        p0=kind.p0,
    )
    try:
        return run_apart(run)
    except InputError as error:
        return unsolved(settings.batch, error.what)


@trusted
def run_schedule(job: Job, simulate: Simulate = simulate_level) -> list[dict[str, Any]]:
    """Return rows of one design at one fidelity, one per level, in order; none when its earlier rows leave
    nothing to run.

    At low fidelity, levels of uniform formulas follow those of planted ones if the settings ask for them.
    """
    if job.threads > 1:
        simulate = partial(simulate, threads=job.threads)
    rows: list[dict[str, Any]] = []
    left = limits_of(job.settings, job.fidelity).core_s
    while (level := next_level(job.settings, job.fidelity, job.earlier, rows)) is not None:
        seed = instance_seed(job.root_seed, level.n)
        result = simulate(job.traced, level.n, level.max_work, seed, max(left, LEAST_CORE_S), job.settings)
        left -= counted_s(
            int(result.steps_run), result.engine, job.settings.batch * level.n, result.work_per_step
        )
        rows.append(result_row(job, level, seed, result))
    if job.fidelity == "low" and job.settings.uniform.share > 0:
        rows += _uniform_rows(job, simulate)
    return rows


def _uniform_rows(job: Job, simulate: Simulate) -> list[dict[str, Any]]:
    """Rows of one design on uniform formulas, one per level, within as many seconds again."""
    settings = job.settings.model_copy(update={"batch": uniform_batch(job.settings)})
    job, kind = replace(job, settings=settings), uniform_kind(settings.uniform.ratio)
    rows: list[dict[str, Any]] = []
    left = limits_of(settings, job.fidelity).core_s
    while (level := next_level(settings, job.fidelity, job.earlier, rows, kind.name)) is not None:
        seed = uniform_seed(job.root_seed, level.n)
        result = simulate(
            job.traced, level.n, level.max_work, seed, max(left, LEAST_CORE_S), settings, kind=kind
        )
        left -= counted_s(
            int(result.steps_run), result.engine, settings.batch * level.n, result.work_per_step
        )
        rows.append(result_row(job, level, seed, result, kind))
    return rows


def result_row(
    job: Job, level: Level, seed: int, result: Measured, kind: FormulaKind | None = None
) -> dict[str, Any]:
    """Return one row of the table EXPERIMENTS, of planted formulas unless a kind is given."""
    kind = kind or FormulaKind(ratio=job.settings.ratio)
    return {
        "design_id": job.design_id,
        "cycle": job.cycle,
        "fidelity": job.fidelity,
        "level": level.k,
        "batch": job.settings.batch,
        "N": level.n,
        "ratio": kind.ratio,
        "kind": kind.name,
        "run_till_median": True,
        "max_steps": int(result.limit),
        "max_work": float(level.max_work),
        "unsolved_fraction": float(result.unsolved_fraction),
        "median_step": int(result.median_step),
        "steps_run": int(result.steps_run),
        "work_per_step": float(result.work_per_step),
        "median_work": float(result.median_step * result.work_per_step),
        "together_step": result.together_step if job.settings.batch == PAPER_BATCH else None,
        "left_again": result.left_again,
        "seed": seed,
        "wall_s": float(result.wall_s),
        "cpu_s": float(result.cpu_s),
        "profile": job.profile,
        "engine": result.engine,
        "timed_out": bool(result.timed_out),
        "diverged": int(result.diverged),
        "failure": result.failure,
    }


OnDone = Callable[[Job, list[dict[str, Any]]], None]


def run_jobs(
    executor: Executor,
    jobs: Sequence[Job],
    *,
    simulate: Simulate = simulate_level,
    on_done: OnDone | None = None,
) -> list[dict[str, Any]]:
    """Return rows of all jobs, in the order of `jobs` whatever the order of finishing. `on_done` is called
    with each job as it is collected.

    What took longest so far is begun first, so that no worker is left with it when the others have nothing to
    do.

    An exception in a worker is a fault of ours and is raised here; a design that diverges, never solves
    anything, or kills or outstays the process that computes it is rows (`failure` says how it broke).
    """
    heaviest = sorted(range(len(jobs)), key=lambda place: -_work_of_last(jobs[place]))
    pending: dict[int, Future[list[dict[str, Any]]]] = {
        place: executor.submit(run_schedule, jobs[place], simulate) for place in heaviest
    }
    rows: list[dict[str, Any]] = []
    for place, job in enumerate(jobs):
        result = finished(pending[place], job.design_id)
        rows += result
        if on_done is not None:
            on_done(job, result)
    return rows


def finished(future: Future[list[dict[str, Any]]], design_id: str) -> list[dict[str, Any]]:
    """Return the rows of a design when they are there. Raises MachineryError where the worker died."""
    try:
        return future.result()
    except BrokenExecutor as error:
        raise MachineryError(
            f"a worker process died while design {design_id[:12]} was waiting or running",
            got=str(error),
            do="look for a lack of memory; then run again",
        ) from error


def _work_of_last(job: Job) -> int:
    """Work times variables of the largest size that the design was run at; 0 where it was not run."""
    return max(
        (
            (int(row["N"]), round(int(row["N"]) * int(row["steps_run"]) * per_step(row)))
            for row in job.earlier
        ),
        default=(0, 0),
    )[1]


def results_by_design(
    rows: Sequence[Mapping[str, Any]], kind: str = "planted"
) -> dict[str, list[dict[str, Any]]]:
    """Return what objectives receive of a kind of formulas: for each design one dict per size, ascending, the
    last try of each. No times: nothing is ranked on wall time.

    Every number of steps is one of work, in steps of the baseline, so that whatever an objective makes of
    steps it makes of work. A size that was not solved has an estimate, which is put above what any design
    took that solved it.
    """
    grouped: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        grouped.setdefault(str(row["design_id"]), []).append(row)
    levels = {design_id: latest_levels(result, kind) for design_id, result in sorted(grouped.items())}
    slowest: dict[int, int] = {}
    for row in (row for result in levels.values() for row in result if is_solved(row)):
        slowest[int(row["N"])] = max(slowest.get(int(row["N"]), 0), math.ceil(median_work(row)))
    return {
        design_id: [_level_for_objectives(row, slowest) for row in result]
        for design_id, result in levels.items()
    }


def _level_for_objectives(row: Mapping[str, Any], slowest: Mapping[int, int]) -> dict[str, Any]:
    """Return a level as objectives see it. slowest: the most work that any design took at a size that it
    solved."""
    median = math.ceil(median_work(row))
    ran = math.ceil(int(row["steps_run"]) * per_step(row))
    if not is_solved(row):
        median = max(median, 1 + slowest.get(int(row["N"]), 0))
    return {key: row[key] for key in OBJECTIVE_KEYS} | {
        "max_steps": round(max_work(row)),
        "median_step": median,
        "steps_run": min(ran, median),
        "work_per_step": per_step(row),
    }
