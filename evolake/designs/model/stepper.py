"""What the engines share: the initial state, and the protocol of a stepper.

A step is: gradients of every variable from the graph, `x -= lr * gradient`, clamp to the bounds, then the
check of the clauses, which the host does itself from `v` (a clause is satisfied when one of its literals is
positive; a state that is not a number satisfies nothing).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from evolake.designs.model.contract import TracedDesign
from evolake.designs.model.graph import Graph, last_uses
from evolake.designs.model.instances import Planted
from evolake.designs.model.operators import RANDOM, Setting, evaluate
from evolake.errors import InputError
from evolake.seeds import child_seed

if TYPE_CHECKING:
    import torch

MAX_STATE_NUMBERS = 2**31


class Stepper(Protocol):
    """Advances a batch. `name` is the engine that really runs."""

    name: str

    def run(self, steps: int) -> np.ndarray:
        """Advance by `steps` and return (steps, B) bool: which instance was solved after each step.

        Raises Failed where the design breaks, and Inexpressible where this engine meets a number that it
        cannot follow torch in: the run is then to be begun again on `engine.plain_stepper`.
        """
        ...

    def state(self) -> dict[str, np.ndarray]:
        """Return the present value of every variable, each of its full batch shape."""
        ...


EVALUATION_ERRORS = (RuntimeError, IndexError, ValueError, TypeError, ArithmeticError, MemoryError)
"""What torch and Python's numbers raise on a graph that cannot be run: the design's fault wherever a graph is
evaluated."""


class Failed(Exception):
    """The design itself broke while running (an index out of range, for one). Caught by `simulate` and turned
    into a value."""


def generator_of(seed: int, purpose: str, index: int = 0) -> torch.Generator:
    """Return a torch generator for one use of the simulation's seed."""
    import torch

    return torch.Generator().manual_seed(child_seed(seed, "designs", "", purpose, index))


def draw_setting(setting: Setting, seed: int, step: int, position: int, instance: int) -> Setting:
    """Return the setting with the stream of one random operator, step and instance: what is drawn does not
    depend on the order of anything else."""
    return replace(setting, generator=generator_of(seed, f"step {step} operator {position}", instance))


def initial_state(traced: TracedDesign, instances: Planted, seed: int, dtype: str) -> dict[str, torch.Tensor]:
    """Return the start of every variable: its initialiser's graph, drawn from its own stream (so that a
    further variable shifts no other)."""
    import torch

    check_size(traced, instances)
    real = getattr(torch, dtype)
    state, initial = {}, traced.initial()
    for variable in traced.variables:
        graph = initial[variable.name]
        setting = Setting(
            real,
            instances.batch,
            instances.n,
            instances.m,
            generator=generator_of(seed, f"initial {variable.name}"),
        )
        values: list[Any] = []
        try:
            for node, spent in zip(graph.nodes, last_uses(graph), strict=True):
                values.append(evaluate(node, values, setting))
                for index in spent:
                    values[index] = None
            start = values[graph.outputs[0][1]].to(real).contiguous().clone()
        except EVALUATION_ERRORS as error:
            raise Failed(f"init of {variable.name!r}: {' '.join(str(error).split())}"[:300]) from None
        wanted = variable.dimensions(instances.batch, instances.n, instances.m)
        if tuple(start.shape) != wanted:
            raise Failed(f"init of {variable.name!r} gave {tuple(start.shape)}, wanted {wanted}")
        state[variable.name] = start
    return state


def check_fits(traced: TracedDesign, instances: Planted) -> None:
    """Raise Failed when the graphs do not fit this size, or ask for more memory than a design may: before
    anything is allocated."""
    from evolake.designs.model.graph_check import check_at

    variables = {variable.name: variable for variable in traced.variables}
    sizes = (instances.batch, instances.n, instances.m)
    problem = check_at(traced.gradient(), variables, *sizes, batched=False)
    for name, graph in traced.initial().items():
        problem = problem or check_at(graph, {name: variables[name]}, *sizes, batched=True)
    if problem is not None:
        raise Failed(problem.reason)


def check_size(traced: TracedDesign, instances: Planted) -> None:
    """Raise InputError when the design was traced for another size, or the batch does not fit into memory."""
    if traced.size is not None and traced.size != (instances.n, instances.m):
        raise InputError(
            "the design was traced for one size only",
            wanted=f"N={traced.size[0]}, M={traced.size[1]}",
            got=f"N={instances.n}, M={instances.m}",
            do="trace it again with size=(N, M)",
        )
    numbers = sum(
        int(np.prod(variable.dimensions(instances.batch, instances.n, instances.m), dtype=np.int64))
        for variable in traced.variables
    )
    if numbers > MAX_STATE_NUMBERS:
        wanted = f"at most {MAX_STATE_NUMBERS:,} numbers of state"
        raise InputError(
            "the batch is too large", wanted=wanted, got=f"{numbers:,}", do="lower the size or batch"
        )


def is_random(graph: Graph) -> bool:
    """Return whether the graph draws random numbers."""
    return any(node.operator in RANDOM for node in graph.nodes)
