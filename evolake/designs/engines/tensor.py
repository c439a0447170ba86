"""The tensor engine: each cell of a design is a (B, N) or (B, M) tensor, and each expression one call of
torch.

Every view and one-hot scatter is gone before anything runs (evolake.designs.compiler.lowering), the two best
of three literals are compares and selects on three tensors, and the sum over clauses is one flat index_add.
What depends on no state is computed once. It runs on a GPU when EVOLAKE_DEVICE=cuda asks for it, and is what
the kernels are held against at full size.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evolake.designs.compiler.expression import Expression, Inexpressible
from evolake.designs.compiler.foreign import Foreign, Part, check_whole, run_foreign, to_tensor
from evolake.designs.compiler.kernel_plan import reachable
from evolake.designs.compiler.lowering import lower
from evolake.designs.engines.batched import device_name, one_thread, recorded
from evolake.designs.engines.fused import loop_axis
from evolake.designs.engines.tensor_operators import OPERATORS, simpler
from evolake.designs.model.contract import TracedDesign
from evolake.designs.model.graph import Power, Symbol
from evolake.designs.model.instances import Planted
from evolake.designs.model.operators import Setting
from evolake.designs.model.stepper import initial_state

Values = dict[int, Any]


class TensorStepper:
    """Runs lowered expressions with torch. Raises Inexpressible when the graph cannot be lowered, operators
    left to torch included."""

    name = "torch"

    def __init__(self, traced: TracedDesign, instances: Planted, seed: int, dtype: str):
        import torch

        self._traced, self._instances, self._seed, self._step = traced, instances, seed, 0
        self._device = device_name()
        self._real = getattr(torch, dtype)
        try:
            lowered = lower(traced, dtype, foreign=True)
        except RecursionError:
            raise Inexpressible("an expression that is nested too deep") from None
        self._moves = lowered.moves
        idx = torch.from_numpy(np.ascontiguousarray(instances.idx.transpose(2, 0, 1).astype(np.int64))).to(
            self._device
        )
        self._flat = idx + torch.arange(instances.batch, device=self._device).view(1, -1, 1) * instances.n
        self._signs = torch.from_numpy(np.ascontiguousarray(instances.sgn.transpose(2, 0, 1))).to(
            self._device, self._real
        )
        self._idx = idx
        self._where: dict[int, Any] = {}
        self._states = self._cells_of(initial_state(traced, instances, seed, dtype))
        self._setting = Setting(self._real, instances.batch, instances.n, instances.m, self._device)
        with one_thread(), torch.no_grad():
            self._arrange(lowered.foreign)

    def _cells_of(self, start: dict[str, Any]) -> dict[tuple[str, int], Any]:
        cells = {}
        for variable in self._traced.variables:
            tensor = start[variable.name].movedim(1 + loop_axis(variable.shape), -1)
            for place, cell in enumerate(tensor.reshape(tensor.shape[0], -1, tensor.shape[-1]).unbind(1)):
                cells[variable.name, place] = cell.to(self._device).contiguous()
        return cells

    def _arrange(self, foreigns: tuple[Foreign, ...]) -> None:
        """Split the expressions into those computed now and the program of a step, and give each a place."""
        maker = {part.name: foreign for foreign in foreigns for part in foreign.results}
        self._program: list[tuple[Expression | Foreign, tuple[Expression, ...]]] = []
        self._static: Values = {}
        moving: set[int] = set()
        done: set[str] = set()

        def place(roots: list[Expression]) -> None:
            for item in reachable(roots):
                if item.serial in moving or item.serial in self._static:
                    continue
                foreign = maker.get(item.data[0]) if item.operator in ("state", "external") else None
                if foreign is not None and foreign.results[0].name not in done:
                    done.add(foreign.results[0].name)
                    needed = [cell for part in foreign.operands.values() for cell in part.cells]
                    place(needed)
                    self._program.append((foreign, tuple(needed)))
                if item.operator in ("state", "external") or any(arg.serial in moving for arg in item.args):
                    moving.add(item.serial)
                    self._program.append((item, item.args))
                else:
                    self._static[item.serial] = self._value(item, self._static)

        roots = [cell for cells in self._moves.values() for cell in cells]
        place(roots)
        last = {arg.serial: position for position, (_, args) in enumerate(self._program) for arg in args}
        last |= {root.serial: len(self._program) for root in roots}
        spent: list[list[int]] = [[] for _ in self._program]
        for serial, position in last.items():
            if serial in moving and position < len(self._program):
                spent[position].append(serial)
        self._assign(spent)

    def _assign(self, spent: list[list[int]]) -> None:
        """Give every elementwise expression a buffer to write to, used again as soon as its last reader is
        done: allocation costs more than sums."""
        import torch

        free: dict[tuple[str, str], list[Any]] = {}
        owned: dict[int, tuple[tuple[str, str], Any]] = {}
        self._buffers: dict[int, Any] = {}
        kinds = {"real": self._real, "bool": torch.bool, "int": torch.int64}
        for (item, _), over in zip(self._program, spent, strict=True):
            if isinstance(item, Expression) and item.operator in OPERATORS and item.operator != "to_whole":
                key = (item.domain, item.kind)
                extent = self._extent(item.domain if item.domain != "S" else None)
                buffer = (
                    free[key].pop()
                    if free.get(key)
                    else torch.empty(
                        self._instances.batch, extent, dtype=kinds[item.kind], device=self._device
                    )
                )
                self._buffers[item.serial] = buffer
                owned[item.serial] = (key, buffer)
            for serial in over:
                if serial in owned:
                    key, buffer = owned[serial]
                    free.setdefault(key, []).append(buffer)

    def _value(self, item: Expression, values: Values, out: Any = None) -> Any:
        """One expression from the values of its operands, written to `out` where that is given."""
        import torch

        batch = self._instances.batch
        match item.operator:
            case "literal":
                kind = {"real": self._real, "int": torch.int64, "bool": torch.bool}[item.kind]
                return torch.tensor(
                    float(item.data) if item.kind == "real" else item.data, dtype=kind, device=self._device
                )
            case "slot":
                return torch.tensor(self._number(item.data), dtype=self._real, device=self._device)
            case "index":
                return self._idx[item.data]
            case "sign":
                return self._signs[item.data]
            case "state":
                return self._states[item.data]
            case "external":
                return self._states[item.data[0], item.data[1]]
            case "gather":
                source = values[item.args[0].serial]
                return (
                    source.reshape(-1)
                    .index_select(0, self._flat[item.args[1].data].reshape(-1))
                    .view(batch, -1)
                )
            case "scatter":
                return self._summed(item, values)
            case "reduce":
                over, (name, loop) = values[item.args[0].serial], item.data
                over = over.expand(batch, self._instances.n if loop == "N" else self._instances.m)
                return {"sum": torch.sum, "max": torch.amax, "min": torch.amin}[name](
                    over, dim=1, keepdim=True
                )
        if item.operator == "to_real":
            return values[item.args[0].serial].to(self._real)
        operands = [values[arg.serial] for arg in item.args]
        function = OPERATORS[item.operator]
        if item.operator == "select":
            function, operands = simpler(item, operands)
        return function(*operands) if out is None else function(*operands, out=out)

    def _number(self, value: Any) -> float:
        if isinstance(value, Symbol):
            return float(value.at(self._instances.batch, self._instances.n, self._instances.m))
        return float(value.at(self._instances.n, self._instances.m) if isinstance(value, Power) else value)

    def _summed(self, item: Expression, values: Values) -> Any:
        """Return the sum over clauses, clause by clause and literal by literal."""
        import torch

        batch, m = self._instances.batch, self._instances.m
        parts = [values[arg.serial].expand(batch, m) for arg in item.args[1::2]]
        if item.serial not in self._where:
            self._where[item.serial] = torch.stack(
                [self._flat[arg.data] for arg in item.args[::2]], dim=-1
            ).reshape(-1)
        total = torch.zeros(batch * self._instances.n, dtype=self._real, device=self._device)
        return total.index_add_(0, self._where[item.serial], torch.stack(parts, dim=-1).reshape(-1)).view(
            batch, -1
        )

    def run(self, steps: int) -> np.ndarray:
        """Take `steps` steps; (steps, B) bool: which instance was solved after each."""
        return recorded(steps, self._instances.batch, self._advance)

    def _advance(self) -> np.ndarray:
        values: Values = dict(self._static)
        for item, _ in self._program:
            if isinstance(item, Foreign):
                self._run(item, values)
            else:
                values[item.serial] = self._value(item, values, self._buffers.get(item.serial))
        for name, cells in self._moves.items():
            for place, cell in enumerate(cells):
                self._states[name, place].copy_(values[cell.serial])
        self._step += 1
        return self._solved()

    def _run(self, foreign: Foreign, values: Values) -> None:
        """Run an operator that was not lowered, on tensors that are stacked from their cells."""
        tensors = {index: self._tensor(part, values) for index, part in foreign.operands.items()}
        results = run_foreign(foreign, tensors, self._setting, self._seed, self._step)
        for part, tensor in zip(foreign.results, results, strict=True):
            check_whole(part, tensor)
            for place, cell in enumerate(part.unstacked(tensor, self._extent(part.loop))):
                self._states[part.name, place] = cell.to(self._device, self._real)

    def _tensor(self, part: Part, values: Values) -> Any:
        import torch

        extent = self._extent(part.loop)
        cells = [
            values[cell.serial].to(self._real).expand(self._instances.batch, extent) for cell in part.cells
        ]
        return to_tensor(part, torch.stack(cells, dim=1), extent)

    def _extent(self, loop: str | None) -> int:
        return {"N": self._instances.n, "M": self._instances.m}.get(loop or "", 1)

    def _solved(self) -> np.ndarray:
        v = self._states["v", 0]
        literals = v.reshape(-1).index_select(0, self._flat.reshape(-1)).view(self._signs.shape) * self._signs
        return ((literals.amax(dim=0) > 0).all(dim=1) & ~v.isnan().any(dim=1)).cpu().numpy()

    def state(self) -> dict[str, np.ndarray]:
        """Return the present value of every variable, each of its full batch shape."""
        result = {}
        for variable in self._traced.variables:
            shape = variable.dimensions(self._instances.batch, self._instances.n, self._instances.m)
            at = 1 + loop_axis(variable.shape)
            inner = [extent for axis, extent in enumerate(shape) if axis not in (0, at)]
            cells = np.stack(
                [
                    self._states[variable.name, place].cpu().numpy()
                    for place in range(int(np.prod(inner, dtype=np.int64)))
                ],
                axis=1,
            )
            result[variable.name] = np.moveaxis(cells.reshape(shape[0], *inner, shape[at]), -1, at).copy()
        return result
