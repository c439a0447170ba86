"""The torch engine for graphs that cannot be taken apart into cells: torch's own vmap over the interpreted
graph, as the paper's engine does it.

Few designs come here (one that takes neighbouring variables, `v[1:] - v[:-1]`, does). It is no faster than
the paper's way, and says so by its name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from evolake.designs.model.contract import TracedDesign
from evolake.designs.model.graph import last_uses
from evolake.designs.model.instances import Planted
from evolake.designs.model.operators import RANDOM, Setting, evaluate
from evolake.designs.model.stepper import EVALUATION_ERRORS, Failed, draw_setting, initial_state, is_random


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch on one thread inside: a worker is one thread, and sums are then added in one order."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def recorded(steps: int, batch: int, step: Callable[[], np.ndarray]) -> np.ndarray:
    """Return what each of `steps` calls of `step` gives, (steps, batch) bool: by torch on one thread and
    without its gradients."""
    import torch

    solved = np.zeros((steps, batch), dtype=bool)
    with one_thread(), torch.no_grad():
        for row in solved:
            row[:] = step()
    return solved


def device_name() -> str:
    """Return "cuda" if EVOLAKE_DEVICE=cuda asks for it and torch sees one, else "cpu"."""
    import torch

    return "cuda" if os.environ.get("EVOLAKE_DEVICE") == "cuda" and torch.cuda.is_available() else "cpu"


class VmapStepper:
    """Runs the graph under vmap; one instance after another when it draws random numbers or vmap refuses
    it."""

    name = "torch"

    def __init__(self, traced: TracedDesign, instances: Planted, seed: int, dtype: str):
        import torch

        self._traced, self._instances, self._seed, self._step = traced, instances, seed, 0
        self._graph, self._names = traced.gradient(), [variable.name for variable in traced.variables]
        self._spent = last_uses(self._graph)
        device = device_name()
        self._setting = Setting(getattr(torch, dtype), instances.batch, instances.n, instances.m, device)
        self._state = {
            name: tensor.to(device) for name, tensor in initial_state(traced, instances, seed, dtype).items()
        }
        self._idx = torch.from_numpy(instances.idx.astype(np.int64)).to(device)
        self._sgn = torch.from_numpy(instances.sgn).to(device, self._setting.real)
        self._apart = is_random(self._graph)

    def _gradients(self, state: list[Any], idx: Any, sgn: Any, instance: int = 0) -> list[Any]:
        """Of one instance, in the order of the variables."""
        inputs = dict(zip([f"var:{name}" for name in self._names], state, strict=True)) | {
            "idx": idx,
            "sgn": sgn,
        }
        values: list[Any] = []
        for position, node in enumerate(self._graph.nodes):
            random = node.operator in RANDOM
            setting = (
                draw_setting(self._setting, self._seed, self._step, position, instance)
                if random
                else self._setting
            )
            values.append(
                inputs[node.args[0]] if node.operator == "input" else evaluate(node, values, setting)
            )
            for spent in self._spent[position]:
                values[spent] = None
        outputs = dict(self._graph.outputs)
        return [values[outputs[name]] for name in self._names]

    def _all_gradients(self) -> list[Any]:
        import torch

        state = [self._state[name] for name in self._names]
        if not self._apart:
            try:
                return torch.func.vmap(self._gradients)(state, self._idx, self._sgn)
            except (
                EVALUATION_ERRORS
            ):  # vmap refuses some graphs that torch runs; what torch refuses is raised again below
                self._apart = True
        each = [
            self._gradients(
                [tensor[instance] for tensor in state], self._idx[instance], self._sgn[instance], instance
            )
            for instance in range(self._instances.batch)
        ]
        return [torch.stack(rows) for rows in zip(*each, strict=True)]

    def run(self, steps: int) -> np.ndarray:
        """Take `steps` steps; (steps, B) bool: which instance was solved after each."""
        return recorded(steps, self._instances.batch, self._advance)

    def _advance(self) -> np.ndarray:
        try:
            gradients = self._all_gradients()
        except EVALUATION_ERRORS as error:
            raise Failed(" ".join(str(error).split())[:300]) from None
        for variable, gradient in zip(self._traced.variables, gradients, strict=True):
            moved = self._state[variable.name] - self._traced.learning_rate * gradient.to(self._setting.real)
            bounded = variable.low is not None or variable.high is not None
            self._state[variable.name] = moved.clamp(variable.low, variable.high) if bounded else moved
        self._step += 1
        return self._solved()

    def _solved(self) -> np.ndarray:
        import torch

        v = self._state["v"]
        literals = torch.gather(v, 1, self._idx.flatten(1)).view(self._idx.shape) * self._sgn
        return ((literals.amax(dim=2) > 0).all(dim=1) & ~v.isnan().any(dim=1)).cpu().numpy()

    def state(self) -> dict[str, np.ndarray]:
        """Return the present value of every variable, each of its full batch shape."""
        return {name: tensor.cpu().numpy() for name, tensor in self._state.items()}
