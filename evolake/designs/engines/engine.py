"""Run a traced design on a batch of instances until more than half have been solved.

An instance counts as solved from the first step at which all its clauses hold: a user would stop there. The
paper counts otherwise, with all instances at one step (`Simulation.together_step`); a design that leaves its
solutions again fares worse by that, the more so the larger the batch.

Engines, fastest first: "fused" (a compiled kernel generated from the graph), "mixed" (kernels, and torch for
the operators that have none), "torch" (the batched graph, on a GPU where torch sees one and
EVOLAKE_DEVICE=cuda asks for it), "reference" (one instance at a time). "auto" and "fused" take the first of
these that fits the graph; `Simulation.engine` says which one ran and `Simulation.note` why it was not the
fused one.

They compute the same: torch's semantics, operator by operator. An engine that cannot follow torch in
something (an element type that kernels do not have, a place that may be out of range) refuses the graph. What
torch itself refuses, in types or shapes, fails everywhere: the first instance takes one step on the reference
engine before another engine is made.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np

from evolake.designs.compiler.expression import Inexpressible
from evolake.designs.engines.counted import counted_s, counted_steps
from evolake.designs.engines.median_search import Computed, MedianSearch, chunk_of
from evolake.designs.model.boundary import alone
from evolake.designs.model.contract import TracedDesign
from evolake.designs.model.instances import Planted
from evolake.designs.model.stepper import Failed, Stepper, check_fits, check_size
from evolake.designs.work.relative import work_per_step
from evolake.designs.work.rows import allowed_steps
from evolake.errors import InputError

ENGINES = ("auto", "fused", "mixed", "torch", "reference")
TOGETHER = 4
"""How many times its median steps a run continues for to see more than half of the batch solved at the same
time."""
TAIL = 0.025
QUICK_WORK = 5_000_000
"""Work times instances times variables, a tenth of a second of a core, below which a racer's kernel is
compiled quickly: most racers miss their first cutoffs, and compiling takes longer than they run."""


@dataclass(frozen=True)
class Simulation:
    """What came of a run.

    median_step: median over instances of the step at which one was first solved (of an even batch the mean of
    the middle two, rounded up); else extrapolated, int(steps*(B/2 + .5)/(solved + .5)) with the solved until
    the last step. reached: whether it was really reached. unsolved_fraction: 1 - solved/B by that step (or by
    the last one). steps_run: steps taken, the median step included. together_step: the first step at which
    more than half of the batch was solved at the same time, as the paper's framework counts; None where that
    was not seen. left_again: how many of the solved instances had been left again by the last step; None
    where solved instances were computed no further. There, `diverged` counts the others. solved_at: (B,) int,
    the first step after which an instance was solved, 0 = never. diverged: instances whose state is no longer
    a number. limit: steps that the run was allowed; fewer than `max_steps` where `max_work` or `core_s`
    allowed no more. work_per_step: cost of a step relative to one of the baseline; 1.0 where that could not
    be counted. cpu_s, wall_s: seconds of all threads together and of the clock, compilation left out;
    compile_s: what making the engine took. failure: what the design broke on while it was made or run, or
    None. A design that fails is unsolved, never an exception.
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
    together_step: int | None = None
    left_again: int | None = 0
    limit: int = 0
    work_per_step: float = 1.0

    @property
    def median_work(self) -> float:
        """Return the median step times the relative cost of a step: the cost in steps of the baseline."""
        return self.median_step * self.work_per_step

    @property
    def interval(self) -> tuple[int, int | None]:
        """Return the 95% interval of the median step by order statistics; its upper end is None where too few
        instances were solved to know it."""
        low, high = order_ranks(len(self.solved_at))
        times = np.sort(self.solved_at[self.solved_at > 0])
        return int(times[low - 1]) if len(times) >= low else max(1, self.steps_run), int(
            times[high - 1]
        ) if len(times) >= high else None

    @property
    def steps_per_s(self) -> float:
        """Steps of the whole batch a second of cpu."""
        return self.steps_run / self.cpu_s if self.cpu_s > 0 else 0.0


@dataclass(frozen=True)
class StopRule:
    """When a run may stop before its bounds.

    median: at the median step; else never. interval: only after the upper end of its interval is known.
    together: only after more than half were solved at the same time, or TOGETHER times as many steps.
    computed: which instances are computed (`evolake.designs.engines.median_search`). Other than "all" holds
    for the fused engine, if neither interval nor together is asked for. It changes neither the median, nor
    whether it is reached. Without `median`, such a run ends when every instance is solved.
    """

    median: bool = True
    interval: bool = False
    together: bool = False
    computed: Computed = "all"

    @property
    def times_alone(self) -> bool:
        """Whether nothing is asked for but when instances are solved."""
        return self.computed != "all" and not self.interval and not self.together


@dataclass(frozen=True)
class WorkBounds:
    """What a run may take; no bound when None.

    max_work: steps of the baseline whose work it may take (`evolake.designs.work.relative`). core_s: seconds
    of a core, counted and not timed: as many steps as RATES says that a core computes in it.
    """

    max_work: float | None = None
    core_s: float | None = None


@dataclass(frozen=True)
class EngineChoice:
    """What a run is computed by.

    dtype: "float32" or "float64"; as traced when None. threads: how many the fused engine shares the
    instances out to; the others take one. All but the times is the same.
    """

    engine: str = "auto"
    dtype: str | None = None
    threads: int = 1


@dataclass(frozen=True)
class RunEvents:
    """Who is called during a run.

    progress: now and then, with (steps so far, instances solved now). made: once, when the engine is ready,
    with the seconds of a core that the run is counted for; 0 where they are not limited.
    """

    progress: Callable[[int, int], None] = lambda steps, solved: None
    made: Callable[[float], None] = lambda counted_s: None


def simulate(
    traced: TracedDesign,
    instances: Planted,
    *,
    max_steps: int,
    seed: int,
    until: StopRule = StopRule(),
    bounds: WorkBounds = WorkBounds(),
    by: EngineChoice = EngineChoice(),
    events: RunEvents = RunEvents(),
) -> Simulation:
    """Run `traced` on `instances`.

    Args:
        max_steps: at least 1.
        seed: of the initial state (the instances have their own).

    A design's torch operators run in this process, which may die of them (`int64 min // -1` is a SIGFPE):
    strangers' designs are run by `evolake.designs.engines.isolated`.

    Raises:
        InputError: arguments that make no run.
    """
    if max_steps < 1:
        raise InputError(
            "nothing to run", wanted="max_steps of at least 1", got=str(max_steps), do="raise max_steps"
        )
    if seed < 0:
        raise InputError(
            "a seed cannot be negative", wanted="0 or more", got=str(seed), do="choose another seed"
        )
    began, dtype, batch = time.thread_time(), by.dtype or traced.dtype, instances.batch
    most = bounds.max_work if until.computed == "deciding" else None
    quick = most is not None and most * batch * instances.n < QUICK_WORK
    made = _tried(
        lambda: make_stepper(
            traced, instances, seed=seed, engine=by.engine, dtype=dtype, threads=by.threads, quick=quick
        )
    )
    if isinstance(made, str):
        return unsolved(batch, made, compile_s=time.thread_time() - began, limit=max_steps)
    stepper, note = made
    allowed = _allowed(traced, instances, max_steps, bounds)
    compile_s = time.thread_time() - began
    events.made(allowed.seconds(stepper.name))
    cpu, wall = time.thread_time(), time.perf_counter()
    try:
        progress, failure = _run(stepper, allowed.steps(stepper.name), batch, until, events)
    except Inexpressible as reason:
        note, stepper = (
            f"begun again without kernels: {reason}",
            plain_stepper(traced, instances, seed, dtype),
        )
        progress, failure = _run(stepper, allowed.steps(stepper.name), batch, until, events)
    known: dict[str, Any] = {
        "solved_at": progress.solved_at,
        "cpu_s": time.thread_time() - cpu + getattr(stepper, "cpu_elsewhere_s", 0.0),
        "wall_s": time.perf_counter() - wall,
        "engine": stepper.name,
        "compile_s": compile_s,
        "note": note,
        "limit": allowed.steps(stepper.name),
        "work_per_step": allowed.per_step,
    }
    if failure is not None:
        return replace(unsolved(batch, failure, steps=progress.steps), **known)
    median = progress.median
    solved = progress.solved_by_median if median and until.median else progress.solved
    return Simulation(
        median_step=median or extrapolated(progress.steps, batch, progress.solved),
        unsolved_fraction=1 - solved / batch,
        steps_run=progress.steps,
        timed_out=False,
        diverged=count_diverged(stepper.state()),
        reached=bool(median),
        together_step=progress.together or None,
        left_again=progress.left_again,
        **known,
    )


@dataclass(frozen=True)
class _Allowed:
    """Steps that a run may take. most: on any engine. variables: of all instances together."""

    most: int
    core_s: float | None
    variables: int
    per_step: float

    def steps(self, engine: str) -> int:
        """Return the steps that are allowed on an engine."""
        if self.core_s is None:
            return self.most
        return min(self.most, counted_steps(self.core_s, engine, self.variables, self.per_step))

    def seconds(self, engine: str) -> float:
        """Return the seconds that these count for; 0 if seconds are not limited."""
        if self.core_s is None:
            return 0.0
        return counted_s(self.steps(engine), engine, self.variables, self.per_step)


def _allowed(traced: TracedDesign, instances: Planted, max_steps: int, bounds: WorkBounds) -> _Allowed:
    per_step = work_per_step(traced, instances.n, instances.m)
    most = max_steps if bounds.max_work is None else min(max_steps, allowed_steps(bounds.max_work, per_step))
    return _Allowed(most, bounds.core_s, instances.batch * instances.n, per_step)


def _run(
    stepper: Any, limit: int, batch: int, until: StopRule, events: RunEvents
) -> tuple[_Progress | _Median, str | None]:
    """Run until all is known that was asked for, up to `limit` steps; return what was found, and what the
    design broke on. Raises Inexpressible as `Stepper.run`."""
    if until.times_alone and hasattr(stepper, "run_chosen"):
        needed = batch // 2 + 1 if until.median else batch
        search = MedianSearch(batch, limit, prove_missed=until.computed == "deciding", needed=needed)
        failure = _tried(lambda: _search_median(stepper, search, events))
        return _Median(search), failure
    progress = _Progress(batch)
    while progress.steps < limit and not progress.done(until):
        solved = _tried(partial(stepper.run, chunk_of(progress.steps, limit)))
        if isinstance(solved, str):
            return progress, solved
        progress.take(solved, until)
        events.progress(progress.steps, progress.solved)
    return progress, None


@cache
def order_ranks(batch: int) -> tuple[int, int]:
    """Return the ranks, from 1, of the order statistics of a 95% interval of the median of `batch` numbers
    (Conover, 1999, section 3.2)."""
    below, low = 0, 0
    while below + math.comb(batch, low) <= TAIL * 2**batch:
        below, low = below + math.comb(batch, low), low + 1
    low = max(1, low)
    return low, batch + 1 - low


def extrapolated(steps: int, batch: int, solved: float) -> int:
    """Return the median step as the paper's framework puts it where it was not reached."""
    return int(max(steps, 1) * (batch / 2 + 0.5) / (solved + 0.5))


def unsolved(
    batch: int,
    failure: str,
    *,
    steps: int = 0,
    compile_s: float = 0.0,
    wall_s: float = 0.0,
    timed_out: bool = False,
    limit: int = 0,
) -> Simulation:
    """Return the result of a design that broke: nothing is solved, and `failure` says why."""
    return Simulation(
        extrapolated(steps, batch, 0),
        1.0,
        steps,
        np.zeros(batch, dtype=np.int64),
        0.0,
        wall_s,
        "none",
        timed_out,
        0,
        False,
        compile_s,
        None,
        failure,
        limit=limit,
    )


def _tried(act: Callable[[], Any]) -> Any:
    """Return what `act` gives, or the text of the design's failure."""
    try:
        return alone(act, lambda reason: reason, passing=(InputError, Failed, Inexpressible))
    except Failed as failed:
        return str(failed) or "it failed"


def _search_median(stepper: Any, search: MedianSearch, events: RunEvents) -> None:
    """Run instances as the search asks for them, until the median is known or cannot be reached."""
    while (turn := search.next()) is not None:
        steps, chosen = turn
        search.take(chosen, stepper.run_chosen(steps, chosen))
        events.progress(int(search.taken.max()), search.solved)


class _Median:
    """What a search for the median found, with the fields of `_Progress`."""

    together = 0
    left_again = None

    def __init__(self, search: MedianSearch):
        self.solved_at, self.steps = search.times(), search.steps
        self.median, self.solved_by_median = middle_of(self.solved_at)
        self.solved = search.expected_solved


def middle_of(solved_at: np.ndarray) -> tuple[int, int]:
    """Return the median step of a batch, 0 if at most half was solved, and the instances that were solved by
    then."""
    batch, times = len(solved_at), np.sort(solved_at[solved_at > 0])
    if len(times) <= batch // 2:
        return 0, 0
    middle = times[batch // 2] if batch % 2 else math.ceil((times[batch // 2 - 1] + times[batch // 2]) / 2)
    return int(middle), int((times <= times[batch // 2]).sum())


class _Progress:
    """Counts solved instances step by step."""

    def __init__(self, batch: int):
        self.steps = 0
        self.solved = 0
        self.solved_by_median = 0
        self.median = 0
        self.together = 0
        self.left_again = 0
        self.solved_at = np.zeros(batch, dtype=np.int64)
        self._upper = order_ranks(batch)[1]

    def done(self, until: StopRule) -> bool:
        """Return whether all is known that was asked for."""
        if not until.median:
            return until.times_alone and self.solved == len(self.solved_at)
        if not self.median or (until.interval and self.solved < self._upper):
            return False
        return not until.together or bool(self.together) or self.steps >= TOGETHER * self.median

    def take(self, solved: np.ndarray, until: StopRule) -> None:
        """Add a (steps, B) block of results; if it is to stop at the median, nothing is looked at after the
        step at which all is known."""
        batch = solved.shape[1]
        ever = np.logical_or.accumulate(solved, axis=0) | (self.solved_at > 0)
        counts, at_once = ever.sum(axis=1), solved.sum(axis=1)
        known = len(solved)
        if until.median:
            known = min(known, self._known_after(counts, at_once, until))
            solved, ever, counts, at_once = solved[:known], ever[:known], counts[:known], at_once[:known]
        first = np.where(solved.any(axis=0), solved.argmax(axis=0) + 1 + self.steps, 0)
        self.solved_at = np.where(self.solved_at > 0, self.solved_at, first)
        if not self.together and (above := np.flatnonzero(at_once > batch // 2)).size:
            self.together = self.steps + int(above[0]) + 1
        self.steps += known
        self.solved = int(counts[-1])
        self.left_again = int((ever[-1] & ~solved[-1]).sum())
        if not self.median and self.solved > batch // 2:
            self.median, self.solved_by_median = middle_of(self.solved_at)

    def _known_after(self, counts: np.ndarray, at_once: np.ndarray, until: StopRule) -> int:
        """Return the steps of a block after which all is known that was asked for; more than it has where
        that is not in it."""
        batch, never = len(self.solved_at), len(counts) + 1

        def first(found: np.ndarray) -> int:
            places = np.flatnonzero(found)
            return int(places[0]) + 1 if places.size else never

        median = 0 if self.median else first(counts > batch // 2)
        upper = first(counts >= self._upper) if until.interval else 0
        beside = 0
        if until.together and not self.together and median <= len(counts):
            most = TOGETHER * (self.median or self.steps + median) - self.steps
            beside = min(first(at_once > batch // 2), max(1, most))
        return max(1, median, upper, beside)


def count_diverged(state: dict[str, np.ndarray]) -> int:
    """Return the number of instances with a value that is not finite in any variable."""
    bad = [~np.isfinite(array).reshape(array.shape[0], -1).all(axis=1) for array in state.values()]
    return int(np.logical_or.reduce(bad).sum())


def first_of(instances: Planted) -> Planted:
    """Return the first instance alone."""
    return Planted(
        instances.idx[:1], instances.sgn[:1], instances.hidden[:1], instances.n, instances.m, instances.seed
    )


def make_stepper(
    traced: TracedDesign,
    instances: Planted,
    *,
    seed: int,
    engine: str = "auto",
    dtype: str = "float32",
    threads: int = 1,
    quick: bool = False,
) -> tuple[Stepper, str | None]:
    """Return a stepper at its initial state, and why it is not the fused one when "fused" or "auto" was asked
    for. threads: as for `simulate`. quick: as for `FusedStepper`.

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
        fused = _or_refusal(lambda: FusedStepper(traced, instances, seed, dtype, threads, quick=quick))
        if not isinstance(fused, str):
            return fused, None
        note = f"not compiled whole: {fused}"
    mixed = _or_refusal(lambda: MixedStepper(traced, instances, seed, dtype))
    if not isinstance(mixed, str):
        return mixed, f"torch runs {', '.join(mixed.operators)}"
    return _torch_stepper(traced, instances, seed, dtype), note or f"not compiled: {mixed}"


def _or_refusal(make: Callable[[], Any]) -> Any:
    """Return an engine, or why it does not take this graph. A rule that breaks on a graph refuses it: what
    torch can run, torch then runs."""
    try:
        return alone(make, lambda reason: reason, passing=(InputError, Failed, Inexpressible))
    except Inexpressible as reason:
        return str(reason)


def _torch_stepper(traced: TracedDesign, instances: Planted, seed: int, dtype: str) -> Stepper:
    """Return the tensor engine where the graph can be lowered, else the graph under vmap."""
    from evolake.designs.engines.tensor import TensorStepper

    stepper = _or_refusal(lambda: TensorStepper(traced, instances, seed, dtype))
    return plain_stepper(traced, instances, seed, dtype) if isinstance(stepper, str) else stepper


def plain_stepper(traced: TracedDesign, instances: Planted, seed: int, dtype: str) -> Stepper:
    """Return the engine that takes every graph: the batched graph as it is, which follows torch in
    everything."""
    from evolake.designs.engines.batched import VmapStepper

    return VmapStepper(traced, instances, seed, dtype)
