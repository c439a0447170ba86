"""The mixed engine: kernels for all that can be compiled, torch for the operators in between (see
evolake.designs.compiler.foreign).

The operators without a kernel are sorted into levels by what they need of each other. A step runs, level by
level, a kernel that works out their operands and then the operators themselves, and last the kernel that
moves the state.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evolake.designs.compiler.expression import Expression, Inexpressible
from evolake.designs.compiler.foreign import MOST_FOREIGN, Foreign, Part, from_tensor, run_foreign, to_tensor
from evolake.designs.compiler.kernel_call import Batch, KernelCall
from evolake.designs.compiler.kernel_plan import make_plan
from evolake.designs.compiler.lowering import Lowered, lower
from evolake.designs.engines.batched import recorded
from evolake.designs.engines.fused import load_states, read_states
from evolake.designs.model.contract import TracedDesign
from evolake.designs.model.instances import Planted
from evolake.designs.model.operators import Setting
from evolake.designs.model.stepper import initial_state


class MixedStepper:
    """Runs kernels and torch in turn. Raises Inexpressible when even that does not fit the graph."""

    name = "mixed"

    def __init__(self, traced: TracedDesign, instances: Planted, seed: int, dtype: str):
        try:
            self._make(traced, instances, seed, dtype)
        except RecursionError:
            raise Inexpressible("an expression that is nested too deep") from None

    def _make(self, traced: TracedDesign, instances: Planted, seed: int, dtype: str) -> None:
        import torch

        lowered = lower(traced, dtype, foreign=True)
        if not lowered.foreign or len(lowered.foreign) > MOST_FOREIGN:
            raise Inexpressible(f"{len(lowered.foreign)} operators without a kernel")
        self.operators = tuple(sorted({foreign.node.operator for foreign in lowered.foreign}))
        self._traced, self._instances, self._seed, self._step = traced, instances, seed, 0
        self._setting = Setting(getattr(torch, dtype), instances.batch, instances.n, instances.m)
        self._batch = Batch(instances, dtype)
        load_states(self._batch, traced, initial_state(traced, instances, seed, dtype))
        self._counts = {name: count for name, (_, count) in lowered.states.items()}
        self._counts |= {
            part.name: part.count
            for foreign in lowered.foreign
            for part in (*foreign.operands.values(), *foreign.results)
        }
        self._levels = [self._level(lowered, foreigns) for foreigns in _levels(lowered.foreign)]
        moves = _with_known(lowered, self._traced)
        self._last = KernelCall(
            make_plan(moves, self._states(moves, lowered.states)), self._batch, single=True
        )

    def _states(
        self, moves: dict[str, list[Expression]], moved: dict[str, tuple[str, int]]
    ) -> dict[str, tuple[str, int]]:
        """Return all states a kernel touches: those it moves and those it only reads."""
        read = {item.data[0]: item.domain for item in _below(moves) if item.operator == "state"}
        return moved | {
            name: (str(loop), self._counts[name]) for name, loop in read.items() if name not in moved
        }

    def _level(self, lowered: Lowered, foreigns: list[Foreign]) -> tuple[KernelCall | None, list[Foreign]]:
        """Return the kernel that works out the operands of some operators; makes their arrays and those of
        their results."""
        moves: dict[str, list[Expression]] = {}
        moved: dict[str, tuple[str, int]] = {}
        for foreign in foreigns:
            for part in foreign.operands.values():
                loop = part.loop or "N"
                array = self._batch.make(part.name, loop, part.count)
                if part.kind == "variable":
                    self._fill_indices(part, array)
                    continue
                moves[part.name] = [lowered.builder.real(cell) for cell in part.cells]
                moved[part.name] = (loop, part.count)
            for part in foreign.results:
                self._batch.make(part.name, part.loop, part.count)
        if not moves:
            return None, foreigns
        return KernelCall(make_plan(moves, self._states(moves, moved)), self._batch, single=True), foreigns

    def _fill_indices(self, part: Part, array: np.ndarray) -> None:
        """Write the variables of each clause, which never change."""
        for place, cell in enumerate(part.cells):
            if cell.operator != "index":
                raise Inexpressible("computed indices of variables")
            array[:, place, : self._instances.m] = self._instances.idx[:, :, cell.data]

    def run(self, steps: int) -> np.ndarray:
        """Take `steps` steps; (steps, B) bool: which instance was solved after each."""
        return recorded(steps, self._instances.batch, self._advance)

    def _advance(self) -> np.ndarray:
        for kernel, foreigns in self._levels:
            if kernel is not None:
                kernel(1)
            for foreign in foreigns:
                self._run(foreign)
        solved = self._last(1)[0]
        self._step += 1
        return solved

    def _run(self, foreign: Foreign) -> None:
        tensors = {index: self._tensor(part) for index, part in foreign.operands.items()}
        results = run_foreign(foreign, tensors, self._setting, self._seed, self._step)
        for part, tensor in zip(foreign.results, results, strict=True):
            from_tensor(part, tensor, self._batch.arrays[part.name], self._batch.extent(part.loop))

    def _tensor(self, part: Part) -> Any:
        import torch

        return to_tensor(part, torch.from_numpy(self._batch.arrays[part.name]), self._batch.extent(part.loop))

    def state(self) -> dict[str, np.ndarray]:
        """Return the present value of every variable, each of its full batch shape."""
        return read_states(self._batch, self._traced)


def _with_known(lowered: Lowered, traced: TracedDesign) -> dict[str, list[Expression]]:
    """Return the moves, reading what an earlier kernel of the step has already left in an operand's array
    instead of working it out again."""
    builder = lowered.builder
    known: dict[int, Expression] = {}
    for foreign in lowered.foreign:
        for part in foreign.operands.values():
            for place, cell in enumerate(part.cells):
                if cell.kind == "real" and cell.domain == part.loop and cell.args:
                    known.setdefault(
                        cell.serial, builder.make("state", (), "real", (part.name, place), part.loop)
                    )

    def replaced(item: Expression) -> Expression:
        if item.serial not in known:
            args = tuple(replaced(arg) for arg in item.args)
            known[item.serial] = (
                item
                if args == item.args
                else builder.make(item.operator, args, item.kind, item.data, item.domain)
            )
        return known[item.serial]

    return {
        variable.name: [replaced(cell) for cell in lowered.moves[variable.name]]
        for variable in traced.variables
    }


def _below(moves: dict[str, list[Expression]]) -> list[Expression]:
    """Return every expression that some moves need."""
    seen: dict[int, Expression] = {}
    stack = [cell for cells in moves.values() for cell in cells]
    while stack:
        item = stack.pop()
        if item.serial not in seen:
            seen[item.serial] = item
            stack.extend(item.args)
    return list(seen.values())


def _levels(foreigns: tuple[Foreign, ...]) -> list[list[Foreign]]:
    """Operators in rounds: each needs results of earlier rounds only."""
    level_of: dict[str, int] = {}
    rounds: list[list[Foreign]] = []
    for foreign in foreigns:
        cells = {str(place): list(part.cells) for place, part in enumerate(foreign.operands.values())}
        used = [item.data[0] for item in _below(cells) if item.operator in ("state", "external")]
        level = max((level_of[name] + 1 for name in used if name in level_of), default=0)
        for part in foreign.results:
            level_of[part.name] = level
        if level == len(rounds):
            rounds.append([])
        rounds[level].append(foreign)
    return rounds
