"""The plain engine: one instance at a time, node after node, exactly the operators of the trace. Slow; what
the others are held against."""

from __future__ import annotations

from typing import Any

import numpy as np

from evolake.designs.model.contract import TracedDesign
from evolake.designs.model.graph import last_uses
from evolake.designs.model.instances import Planted
from evolake.designs.model.operators import RANDOM, Setting, evaluate
from evolake.designs.model.stepper import EVALUATION_ERRORS, Failed, draw_setting, initial_state


class ReferenceStepper:
    """Interprets the graph with torch on single instances."""

    name = "reference"

    def __init__(self, traced: TracedDesign, instances: Planted, seed: int, dtype: str):
        import torch

        self._traced, self._instances, self._seed = traced, instances, seed
        self._graph = traced.gradient()
        self._spent = last_uses(self._graph)
        self._real = getattr(torch, dtype)
        self._state = initial_state(traced, instances, seed, dtype)
        self._idx = torch.from_numpy(instances.idx.astype(np.int64))
        self._sgn = torch.from_numpy(instances.sgn).to(self._real)
        self._step = 0

    def run(self, steps: int) -> np.ndarray:
        """Take `steps` steps, one instance at a time; (steps, B) bool: which instance was solved after
        each."""
        solved = np.zeros((steps, self._instances.batch), dtype=bool)
        for row in solved:
            for instance in range(self._instances.batch):
                self._advance(instance)
                row[instance] = self._is_solved(instance)
            self._step += 1
        return solved

    def state(self) -> dict[str, np.ndarray]:
        """Return the present value of every variable, each of its full batch shape."""
        return {name: tensor.numpy() for name, tensor in self._state.items()}

    def put(self, name: str, values: np.ndarray) -> None:
        """Set a variable of all instances. values: of its shape, with the batch in front."""
        import torch

        self._state[name] = torch.from_numpy(np.ascontiguousarray(values)).to(self._real)

    def rates(self, instance: int) -> dict[str, np.ndarray]:
        """Return how fast each variable of one instance moves: what a step adds to it before its bounds are
        kept, per unit of the learning rate.

        Raises:
            Failed: the graph cannot be evaluated.
        """
        return {name: -tensor.to(self._real).numpy() for name, tensor in self._gradients(instance).items()}

    def _gradients(self, instance: int) -> dict[str, Any]:
        inputs: dict[str, Any] = {f"var:{name}": tensor[instance] for name, tensor in self._state.items()}
        inputs |= {"idx": self._idx[instance], "sgn": self._sgn[instance]}
        plain = Setting(self._real, self._instances.batch, self._instances.n, self._instances.m)
        values: list[Any] = []
        try:
            for position, node in enumerate(self._graph.nodes):
                setting = (
                    draw_setting(plain, self._seed, self._step, position, instance)
                    if node.operator in RANDOM
                    else plain
                )
                values.append(
                    inputs[node.args[0]] if node.operator == "input" else evaluate(node, values, setting)
                )
                for spent in self._spent[position]:
                    values[spent] = None
        except EVALUATION_ERRORS as error:
            raise Failed(" ".join(str(error).split())[:300]) from None
        return {name: values[index] for name, index in self._graph.outputs}

    def _advance(self, instance: int) -> None:
        gradients = self._gradients(instance)
        moved = {}
        for variable in self._traced.variables:
            new = self._state[variable.name][instance] - self._traced.learning_rate * gradients[
                variable.name
            ].to(self._real)
            moved[variable.name] = (
                new
                if variable.low is None and variable.high is None
                else new.clamp(variable.low, variable.high)
            )
        for name, new in moved.items():
            self._state[name][instance] = new

    def _is_solved(self, instance: int) -> bool:
        v = self._state["v"][instance]
        literals = v[self._idx[instance]] * self._sgn[instance]
        return bool((literals > 0).any(dim=1).all()) and not bool(v.isnan().any())
