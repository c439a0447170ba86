"""Runs a traced design on a batch of instances until more than half are solved at the same step.

Engines, fastest first: "fused" (a compiled kernel generated from the graph), "mixed" (kernels, and torch for the operators that have none), "torch"
(the batched graph, on a GPU where torch sees one and EVOLAKE_DEVICE=cuda asks for it), "reference" (one instance at a time). "auto" and "fused" take
the first of these that fits the graph; `Simulation.engine` says which one ran and `Simulation.note` why it was not the fused one.

They compute the same: torch's semantics, operator by operator. An engine that cannot follow torch in something (an element type that kernels do not
have, a place that may be out of range) refuses the graph. What torch itself refuses, in types or shapes, fails everywhere: the first
instance takes one step on the reference engine before another engine is made.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evolake.designs.compiler.expression import Inexpressible
from evolake.designs.model.boundary import alone
from evolake.designs.model.contract import TracedDesign
from evolake.designs.model.instances import Planted
from evolake.designs.model.stepper import Failed, Stepper, check_fits, check_size
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
    cpu_s, wall_s: seconds of all threads together and of the clock, compilation left out; compile_s: what making the engine took.
    failure: what the design broke on while it was made or run, or None. A design that fails is unsolved, never an exception.
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
    on_made: Callable[[], None] | None = None,
    threads: int = 1,
) -> Simulation:
    """Runs `traced` on `instances`.

    Args:
        max_steps: at least 1. seed: of the initial state (the instances have their own). until_median: stop at the median step.
        wall_s: stop after about this many seconds of the clock. dtype: "float32" or "float64"; as traced when None.
        on_progress: called now and then with (steps so far, instances solved now).
        on_made: called once, when the engine is ready and the clock of `wall_s` starts.
        threads: how many the fused engine shares the instances out to; the others take one. All but the times is the same.

    A design's torch operators run in this process, which may die of them (`int64 min // -1` is a SIGFPE): strangers' designs are run by
    `evolake.designs.engines.isolated`.

    Raises:
        InputError: arguments that make no run.
    """
    if max_steps < 1:
        raise InputError("nothing to run", wanted="max_steps of at least 1", got=str(max_steps), do="raise max_steps")
    if seed < 0:
        raise InputError("a seed cannot be negative", wanted="0 or more", got=str(seed), do="choose another seed")
    began = time.thread_time()
    made = _tried(lambda: make_stepper(traced, instances, seed=seed, engine=engine, dtype=dtype or traced.dtype, threads=threads))
    compile_s = time.thread_time() - began
    if isinstance(made, str):
        return unsolved(instances.batch, made, compile_s=compile_s)
    stepper, note = made
    if on_made:
        on_made()
    cpu, wall = time.thread_time(), time.perf_counter()
    progress = _Progress(instances.batch)
    failure = None
    while progress.steps < max_steps and not (until_median and progress.median):
        chunk = min(_chunk(progress.steps, time.perf_counter() - wall, wall_s), max_steps - progress.steps)
        try:
            result = _tried(lambda engine_now=stepper, count=chunk: engine_now.run(count))
        except Inexpressible as reason:
            note, progress = f"begun again without kernels: {reason}", _Progress(instances.batch)
            stepper = plain_stepper(traced, instances, seed, dtype or traced.dtype)
            continue
        if isinstance(result, str):
            failure = result
            break
        progress.take(result, until_median=until_median)
        if on_progress:
            on_progress(progress.steps, progress.solved)
        if wall_s is not None and time.perf_counter() - wall > wall_s:
            break
    elapsed_cpu, elapsed_wall = time.thread_time() - cpu + getattr(stepper, "cpu_elsewhere_s", 0.0), time.perf_counter() - wall
    timed_out = progress.steps < max_steps and not (until_median and progress.median)
    if failure is not None:
        return unsolved(
            instances.batch, failure, steps=progress.steps, solved_at=progress.solved_at, engine=stepper.name, note=note, compile_s=compile_s,
            cpu_s=elapsed_cpu, wall_s=elapsed_wall,
        )
    solved = progress.solved
    half = extrapolated(progress.steps, instances.batch, solved)
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
    )


def extrapolated(steps: int, batch: int, solved: int) -> int:
    """The median step as the paper's framework puts it where it was not reached."""
    return int(max(steps, 1) * (batch / 2 + 0.5) / (solved + 0.5))


def unsolved(
    batch: int, failure: str, *, steps: int = 0, solved_at: np.ndarray | None = None, engine: str = "none", note: str | None = None,
    compile_s: float = 0.0, cpu_s: float = 0.0, wall_s: float = 0.0, timed_out: bool = False,
) -> Simulation:
    """The result of a design that broke: nothing is solved, and `failure` says why."""
    at = np.zeros(batch, dtype=np.int64) if solved_at is None else solved_at
    return Simulation(
        extrapolated(steps, batch, 0), 1.0, steps, at, cpu_s, wall_s, engine, timed_out, 0, False, compile_s, note, failure,
    )


def _tried(act: Callable[[], Any]) -> Any:
    """What `act` gives, or the text of the design's failure."""
    try:
        return alone(act, lambda reason: reason, passing=(InputError, Failed, Inexpressible))
    except Failed as failed:
        return str(failed) or "it failed"


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


def first_of(instances: Planted) -> Planted:
    """The first instance alone."""
    return Planted(instances.idx[:1], instances.sgn[:1], instances.hidden[:1], instances.n, instances.m, instances.seed)


def make_stepper(
    traced: TracedDesign, instances: Planted, *, seed: int, engine: str = "auto", dtype: str = "float32", threads: int = 1,
) -> tuple[Stepper, str | None]:
    """A stepper at its initial state, and why it is not the fused one when "fused" or "auto" was asked for. threads: as for `simulate`.

    Raises:
        InputError: an unknown engine or type, or a design traced for another size.
        Failed: the graphs do not fit the size, or the initial state cannot be made.
    """
    if engine not in ENGINES:
        raise InputError("no such engine", wanted=f"one of {', '.join(ENGINES)}", got=engine)
    if dtype not in ("float32", "float64"):
        raise InputError("no such number type", wanted="float32 or float64", got=dtype)
    check_size(traced, instances)
    check_fits(traced, instances)
    from evolake.designs.engines.reference import ReferenceStepper

    if engine == "reference":
        return ReferenceStepper(traced, instances, seed, dtype), None
    ReferenceStepper(traced, first_of(instances), seed, dtype).run(1)
    if engine == "torch":
        return _torch_stepper(traced, instances, seed, dtype), None
    from evolake.designs.engines.fused import FusedStepper
    from evolake.designs.engines.mixed import MixedStepper

    note = None
    if engine != "mixed":
        fused = _or_refusal(lambda: FusedStepper(traced, instances, seed, dtype, threads))
        if not isinstance(fused, str):
            return fused, None
        note = f"not compiled whole: {fused}"
    mixed = _or_refusal(lambda: MixedStepper(traced, instances, seed, dtype))
    if not isinstance(mixed, str):
        return mixed, f"torch runs {', '.join(mixed.operators)}"
    return _torch_stepper(traced, instances, seed, dtype), note or f"not compiled: {mixed}"


def _or_refusal(make: Callable[[], Any]) -> Any:
    """An engine, or why it does not take this graph. A rule that breaks on a graph refuses it: what torch can run, torch then runs."""
    try:
        return alone(make, lambda reason: reason, passing=(InputError, Failed, Inexpressible))
    except Inexpressible as reason:
        return str(reason)


def _torch_stepper(traced: TracedDesign, instances: Planted, seed: int, dtype: str) -> Stepper:
    """The tensor engine where the graph can be lowered, else the graph under vmap."""
    from evolake.designs.engines.tensor import TensorStepper

    stepper = _or_refusal(lambda: TensorStepper(traced, instances, seed, dtype))
    return plain_stepper(traced, instances, seed, dtype) if isinstance(stepper, str) else stepper


def plain_stepper(traced: TracedDesign, instances: Planted, seed: int, dtype: str) -> Stepper:
    """The engine that takes every graph: the batched graph as it is, which follows torch in everything."""
    from evolake.designs.engines.batched import VmapStepper

    return VmapStepper(traced, instances, seed, dtype)
