"""Runs a traced design on a batch of instances until more than half are solved at the same step.

Engines, fastest first: "fused" (a compiled kernel generated from the graph), "mixed" (kernels, and torch for the operators that have none), "torch"
(the batched graph, on a GPU where torch sees one and EVOLAKE_DEVICE=cuda asks for it), "reference" (one instance at a time). "auto" and "fused" take
the first of these that fits the graph; `Simulation.engine` says which one ran and `Simulation.note` why it was not the fused one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from evolake.designs.contract import TracedDesign
from evolake.designs.instances import Planted
from evolake.designs.stepper import Failed, Stepper
from evolake.errors import InputError

ENGINES = ("auto", "fused", "mixed", "torch", "reference")
_LARGEST_CHUNK = 64


@dataclass(frozen=True)
class Simulation:
    """What came of a run.

    median_step: the first step at which more than half of the batch was solved at once; else extrapolated as the paper's framework does,
    int(steps*(B/2 + .5)/(solved + .5)) with the solved at the last step. reached: whether it was really reached.
    unsolved_fraction: 1 - solved/B at that step (or at the last one). steps_run: steps taken, the median step included.
    solved_at: (B,) int, the first step after which an instance was solved, 0 = never. diverged: instances whose state is no longer a number.
    cpu_s, wall_s: seconds of this thread and of the clock, compilation left out; compile_s: what making the engine took.
    failure: what the design broke on while running, or None. A design that fails is unsolved, never an exception.
    """

    median_step: int
    unsolved_fraction: float
    steps_run: int
    solved_at: np.ndarray = field(repr=False)
    cpu_s: float
    wall_s: float
    engine: str
    timed_out: bool
    diverged: int
    reached: bool
    compile_s: float = 0.0
    note: str | None = None
    failure: str | None = None

    @property
    def steps_per_s(self) -> float:
        """Steps of the whole batch a second of cpu."""
        return self.steps_run / self.cpu_s if self.cpu_s > 0 else 0.0


def simulate(
    traced: TracedDesign,
    instances: Planted,
    *,
    max_steps: int,
    seed: int,
    until_median: bool = True,
    wall_s: float | None = None,
    engine: str = "auto",
    dtype: str | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Simulation:
    """Runs `traced` on `instances`.

    Args:
        max_steps: at least 1. seed: of the initial state (the instances have their own). until_median: stop at the median step.
        wall_s: stop after about this many seconds of the clock. dtype: "float32" or "float64"; as traced when None.
        on_progress: called now and then with (steps so far, instances solved now).

    Raises:
        InputError: arguments that make no run.
    """
    if max_steps < 1:
        raise InputError("nothing to run", wanted="max_steps of at least 1", got=str(max_steps), do="raise max_steps")
    if seed < 0:
        raise InputError("a seed cannot be negative", wanted="0 or more", got=str(seed), do="choose another seed")
    began = time.thread_time()
    stepper, note = make_stepper(traced, instances, seed=seed, engine=engine, dtype=dtype or traced.dtype)
    compile_s = time.thread_time() - began
    cpu, wall = time.thread_time(), time.perf_counter()
    progress = _Progress(instances.batch)
    failure = None
    while progress.steps < max_steps and not (until_median and progress.median):
        chunk = min(_chunk(progress.steps, time.perf_counter() - wall, wall_s), max_steps - progress.steps)
        try:
            progress.take(stepper.run(chunk), until_median=until_median)
        except Failed as error:
            failure = str(error)
            break
        if on_progress:
            on_progress(progress.steps, progress.solved)
        if wall_s is not None and time.perf_counter() - wall > wall_s:
            break
    elapsed_cpu, elapsed_wall = time.thread_time() - cpu, time.perf_counter() - wall
    timed_out = failure is None and progress.steps < max_steps and not (until_median and progress.median)
    solved = 0 if failure else progress.solved
    half = int(max(progress.steps, 1) * (instances.batch / 2 + 0.5) / (solved + 0.5))
    return Simulation(
        median_step=progress.median or half,
        unsolved_fraction=1 - solved / instances.batch,
        steps_run=progress.steps,
        solved_at=progress.solved_at,
        cpu_s=elapsed_cpu,
        wall_s=elapsed_wall,
        engine=stepper.name,
        timed_out=timed_out,
        diverged=count_diverged(stepper.state()),
        reached=bool(progress.median),
        compile_s=compile_s,
        note=note,
        failure=failure,
    )


def _chunk(steps: int, spent: float, wall_s: float | None) -> int:
    """Steps to take before looking up: an eighth of those taken, at most 64, and no more than the clock allows (one, when it is not known yet)."""
    wanted = min(_LARGEST_CHUNK, max(8, steps // 8))
    if wall_s is None:
        return wanted
    return min(wanted, max(1, int((wall_s - spent) * steps / max(spent, 1e-9)))) if steps else 1


class _Progress:
    """Counts solved instances step by step."""

    def __init__(self, batch: int):
        self.steps = 0
        self.solved = 0
        self.median = 0
        self.solved_at = np.zeros(batch, dtype=np.int64)

    def take(self, solved: np.ndarray, *, until_median: bool) -> None:
        """Adds a (steps, B) block of results; with `until_median` nothing after the median step is looked at."""
        counts = solved.sum(axis=1)
        above = np.flatnonzero(counts > solved.shape[1] // 2)
        if above.size and not self.median:
            self.median = self.steps + int(above[0]) + 1
            if until_median:
                solved, counts = solved[: above[0] + 1], counts[: above[0] + 1]
        first = np.where(solved.any(axis=0), solved.argmax(axis=0) + 1 + self.steps, 0)
        self.solved_at = np.where(self.solved_at > 0, self.solved_at, first)
        self.steps += solved.shape[0]
        self.solved = int(counts[-1])


def count_diverged(state: dict[str, np.ndarray]) -> int:
    """Instances with a value that is not finite in any variable."""
    bad = [~np.isfinite(array).reshape(array.shape[0], -1).all(axis=1) for array in state.values()]
    return int(np.logical_or.reduce(bad).sum())


def make_stepper(traced: TracedDesign, instances: Planted, *, seed: int, engine: str = "auto", dtype: str = "float32") -> tuple[Stepper, str | None]:
    """A stepper at its initial state, and why it is not the fused one when "fused" or "auto" was asked for.

    Raises:
        InputError: an unknown engine or type, or a design traced for another size.
    """
    if engine not in ENGINES:
        raise InputError("no such engine", wanted=f"one of {', '.join(ENGINES)}", got=engine)
    if dtype not in ("float32", "float64"):
        raise InputError("no such number type", wanted="float32 or float64", got=dtype)
    if engine == "reference":
        from evolake.designs.reference import ReferenceStepper

        return ReferenceStepper(traced, instances, seed, dtype), None
    if engine == "torch":
        return _torch_stepper(traced, instances, seed, dtype), None
    from evolake.designs.fused import FusedStepper, Inexpressible
    from evolake.designs.mixed import MixedStepper

    note = None
    if engine != "mixed":
        try:
            return FusedStepper(traced, instances, seed, dtype), None
        except Inexpressible as reason:
            note = f"not compiled whole: {reason}"
    try:
        mixed = MixedStepper(traced, instances, seed, dtype)
        return mixed, f"torch runs {', '.join(mixed.operators)}"
    except Inexpressible as reason:
        return _torch_stepper(traced, instances, seed, dtype), note or f"not compiled: {reason}"


def _torch_stepper(traced: TracedDesign, instances: Planted, seed: int, dtype: str) -> Stepper:
    """On planes where the graph can be lowered, else under vmap."""
    from evolake.designs.batched import VmapStepper
    from evolake.designs.expression import Inexpressible
    from evolake.designs.planes import PlanesStepper

    try:
        return PlanesStepper(traced, instances, seed, dtype)
    except Inexpressible:
        return VmapStepper(traced, instances, seed, dtype)
