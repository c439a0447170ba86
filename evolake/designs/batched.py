"""The torch engine: the graph with a batch axis in front, a handful of operators rewritten for speed.

vmap would do it, at the price the paper's engine pays: its gather, topk and scatter over three literals are slow. Here, literals of a clause are kept
as three planes (the axis of three is outermost in memory, innermost in shape), `topk` over them is compare and select, scattering into them is a
comparison with 0, 1, 2, and the sum over clauses is one flat index_add with offsets computed once. Whatever depends on no state variable is
computed once. Operators without a rule of their own go through vmap one by one, so every listed operator runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from evolake.designs import batched_rules
from evolake.designs.batched_rules import Batched, Context
from evolake.designs.contract import TracedDesign
from evolake.designs.graph import Node
from evolake.designs.instances import Planted
from evolake.designs.operators import RANDOM, Setting, evaluate
from evolake.designs.stepper import Failed, generator_of, initial_state

Run = Callable[[list[Any]], Any]


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


class TorchStepper:
    """Runs the batched graph operator by operator."""

    name = "torch"

    def __init__(self, traced: TracedDesign, instances: Planted, seed: int, dtype: str):
        import torch

        self._traced, self._instances, self._seed = traced, instances, seed
        self._device = "cuda" if os.environ.get("EVOLAKE_DEVICE") == "cuda" and torch.cuda.is_available() else "cpu"
        real = getattr(torch, dtype)
        self._context = Context(instances.batch, Setting(real, instances.batch, instances.n, instances.m, self._device))
        self._state = {name: tensor.to(self._device) for name, tensor in initial_state(traced, instances, seed, dtype).items()}
        planes = instances.idx.astype(np.int64).transpose(2, 0, 1)
        idx = torch.from_numpy(np.ascontiguousarray(planes)).to(self._device).permute(1, 2, 0)
        sgn = torch.from_numpy(np.ascontiguousarray(instances.sgn.transpose(2, 0, 1))).to(self._device, real).permute(1, 2, 0)
        self._inputs = {"idx": idx, "sgn": sgn}
        offsets = torch.arange(instances.batch, device=self._device).view(1, -1, 1) * instances.n
        self._flat = (idx.permute(2, 0, 1) + offsets).reshape(-1)
        self._planes = sgn.permute(2, 0, 1)
        self._step = 0
        with one_thread(), torch.no_grad():
            self._prepare()

    def _prepare(self) -> None:
        """Splits the graph into what is computed now, once, and the steps to run each time."""
        graph = self._traced.gradient()
        self._outputs = dict(graph.outputs)
        self._values: list[Any] = [None] * len(graph.nodes)
        self._program: list[tuple[int, Run]] = []
        dynamic: set[int] = set()
        last_use = {reference: position for position, node in enumerate(graph.nodes) for reference in node.references()}
        for position, node in enumerate(graph.nodes):
            name = node.args[0] if node.operator == "input" else None
            if name is not None and name.startswith("var:"):
                dynamic.add(position)
                self._program.append((position, _input(self._state, name.removeprefix("var:"))))
            elif name is not None:
                self._values[position] = Batched(self._inputs[name])
            elif node.operator in RANDOM or any(reference in dynamic for reference in node.references()):
                dynamic.add(position)
                self._program.append((position, self._step_of(node, graph.nodes, dynamic)))
            else:
                self._values[position] = self._guarded(self._static(node))
        kept = set(self._outputs.values())
        self._free = {
            position: [used for used in set(node.references()) if last_use[used] == position and used in dynamic and used not in kept]
            for position, node in enumerate(graph.nodes)
        }

    def _static(self, node: Node) -> Run:
        if any(isinstance(self._values[reference], Batched) for reference in node.references()) or node.operator == "getitem":
            return self._step_of(node, (), set())
        return lambda values: evaluate(node, values, self._context.setting)

    def _step_of(self, node: Node, nodes: Any, dynamic: set[int]) -> Run:
        if node.operator in RANDOM:
            return self._random(node)
        return batched_rules.rule(node, self._values, self._context)

    def _random(self, node: Node) -> Run:
        """Each instance draws from a stream of its own, keyed by the step."""
        import torch

        def draw(values: list[Any]) -> Any:
            rows = []
            for instance in range(self._context.batch):
                setting = self._context.setting_with(self._generators[instance])
                single = [value.tensor[instance] if isinstance(value, Batched) else value for value in values]
                rows.append(evaluate(node, single, setting))
            return Batched(torch.stack(rows))

        return draw

    def _guarded(self, run: Run) -> Any:
        try:
            return run(self._values)
        except (RuntimeError, IndexError) as error:
            raise Failed(" ".join(str(error).split())[:300]) from None

    def run(self, steps: int) -> np.ndarray:
        import torch

        solved = np.zeros((steps, self._instances.batch), dtype=bool)
        with one_thread(), torch.no_grad():
            for row in solved:
                self._advance()
                row[:] = self._solved()
        return solved

    def state(self) -> dict[str, np.ndarray]:
        return {name: tensor.cpu().numpy() for name, tensor in self._state.items()}

    def _advance(self) -> None:
        self._generators = _Streams(self._seed, self._step)
        values = self._values
        for position, run in self._program:
            values[position] = self._guarded(run)
            for spent in self._free[position]:
                values[spent] = None
        moved = {}
        for variable in self._traced.variables:
            tensor, gradient = self._state[variable.name], values[self._outputs[variable.name]]
            gradient = gradient.tensor if isinstance(gradient, Batched) else gradient
            moved[variable.name] = tensor.add(gradient.to(tensor.dtype), alpha=-self._traced.learning_rate)
            if variable.low is not None or variable.high is not None:
                moved[variable.name].clamp_(variable.low, variable.high)
        self._state.update(moved)
        self._step += 1

    def _solved(self) -> np.ndarray:
        v = self._state["v"]
        literals = v.view(-1).index_select(0, self._flat).view(self._planes.shape) * self._planes
        return ((literals.amax(dim=0) > 0).all(dim=1) & ~v.isnan().any(dim=1)).cpu().numpy()


class _Streams:
    """The generators of one step, made when asked for: draws of one instance and step come from one stream, in the order of the graph."""

    def __init__(self, seed: int, step: int):
        self._seed, self._step, self._made = seed, step, {}

    def __getitem__(self, instance: int) -> Any:
        if instance not in self._made:
            self._made[instance] = generator_of(self._seed, f"step {self._step}", instance)
        return self._made[instance]


def _input(state: dict[str, Any], name: str) -> Run:
    return lambda values: Batched(state[name])
