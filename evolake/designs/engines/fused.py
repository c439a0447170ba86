"""The fused engine: a kernel generated from the graph, called for a few dozen steps at a time.

A plan holds for every size, so the last few are kept: a design that is run on several sizes one after another
is lowered and planned once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evolake.designs.compiler.expression import Inexpressible
from evolake.designs.compiler.kernel_call import Batch, KernelCall
from evolake.designs.compiler.kernel_plan import KernelPlan, make_plan
from evolake.designs.compiler.lowering import lower
from evolake.designs.model.contract import TracedDesign, Variable
from evolake.designs.model.instances import Planted
from evolake.designs.model.stepper import initial_state

__all__ = ["FusedStepper", "Inexpressible"]


class FusedStepper:
    """Runs a compiled kernel over the batch. Raises Inexpressible when the graph has something no kernel is
    generated for.

    threads: the instances are shared out to so many; none sees what another holds, so the numbers are those
    of one thread. quick: compiled in less time to slower code, for a short run.
    """

    name = "fused"

    def __init__(
        self,
        traced: TracedDesign,
        instances: Planted,
        seed: int,
        dtype: str,
        threads: int = 1,
        *,
        quick: bool = False,
    ):
        self._traced = traced
        self._batch = Batch(instances, dtype)
        try:
            plan = planned(traced, dtype)
            load_states(self._batch, traced, initial_state(traced, instances, seed, dtype))
            self._call = KernelCall(plan, self._batch, threads=threads, quick=quick)
        except RecursionError:
            raise Inexpressible("an expression that is nested too deep") from None

    def run(self, steps: int) -> np.ndarray:
        """Take `steps` steps; (steps, B) bool: which instance was solved after each."""
        return self._call(steps)

    def run_chosen(self, steps: int, chosen: np.ndarray) -> np.ndarray:
        """Advance some instances alone; what they come to does not depend on the others. (steps, B) bool,
        False for those that wait."""
        return self._call(steps, chosen)

    @property
    def cpu_elsewhere_s(self) -> float:
        """Processor time that threads other than the caller's have taken so far."""
        return self._call.cpu_elsewhere_s

    def state(self) -> dict[str, np.ndarray]:
        """Return the present value of every variable, each of its full batch shape."""
        return read_states(self._batch, self._traced)


_PLANS: dict[tuple[str, tuple[Variable, ...], str], KernelPlan] = {}
_PLANS_KEPT = 8


def planned(traced: TracedDesign, dtype: str) -> KernelPlan:
    """Return the kernel's plan of a design. Raises Inexpressible as `lower` and `make_plan` do."""
    key = traced.graph_sha, traced.variables, dtype
    plan = _PLANS.get(key)
    if plan is None:
        lowered = lower(traced, dtype)
        plan = make_plan(lowered.moves, lowered.states)
        while len(_PLANS) >= _PLANS_KEPT:
            _PLANS.pop(next(iter(_PLANS)), None)
        _PLANS[key] = plan
    return plan


def load_states(batch: Batch, traced: TracedDesign, start: dict[str, Any]) -> None:
    """Put the state variables into arrays of the batch; the padding repeats the last entry."""
    for variable in traced.variables:
        at = 1 + loop_axis(variable.shape)
        values = np.moveaxis(start[variable.name].numpy(), at, -1)
        values = values.reshape(values.shape[0], -1, values.shape[-1])
        array = batch.make(variable.name, str(variable.shape[at]), values.shape[1])
        array[..., : values.shape[-1]] = values
        array[..., values.shape[-1] :] = values[..., -1:]


def read_states(batch: Batch, traced: TracedDesign) -> dict[str, np.ndarray]:
    """Return the state variables in their own shapes."""
    result = {}
    for variable in traced.variables:
        shape = variable.dimensions(batch.instances.batch, batch.instances.n, batch.instances.m)
        at = 1 + loop_axis(variable.shape)
        inner = [extent for axis, extent in enumerate(shape) if axis not in (0, at)]
        padded = batch.arrays[variable.name]
        result[variable.name] = np.moveaxis(
            padded[..., : shape[at]].reshape(shape[0], *inner, shape[at]), -1, at
        ).copy()
    return result


def loop_axis(shape: tuple[str | int, ...]) -> int:
    """Return the place of N or M behind the batch. Raises Inexpressible for a variable that has none."""
    for place, extent in enumerate(shape[1:]):
        if extent in ("N", "M"):
            return place
    raise Inexpressible("a variable without an axis of variables or clauses")
