"""Operators that no kernel is generated for, in a graph that is otherwise compiled.

Such an operator (a cumulative sum, a sort of all clauses, random numbers) is run by torch on the whole batch between two kernels: the kernel before
leaves its operands in arrays, the kernel after reads its results as if they were states. Here: what is kept about one, and the two ways between
arrays (B, cells, padded extent) and tensors (B, shape).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evolake.designs.cells import LOOP, Axis, Value, objects
from evolake.designs.expression import Domain, Expression, Inexpressible, Kind
from evolake.designs.graph import Node
from evolake.designs.lowering_context import Lowering
from evolake.designs.operators import RANDOM, Setting, call


@dataclass(frozen=True)
class Part:
    """One operand or result: where it is kept, its axes and its loop (None: a scalar, or a few, an instance), and its kind."""

    name: str
    axes: tuple[Axis, ...]
    loop: Domain | None
    kind: Kind
    cells: tuple[Expression, ...] = ()

    @property
    def count(self) -> int:
        return int(np.prod([atom for part in self.axes for atom in part if atom != LOOP], dtype=np.int64))


@dataclass(frozen=True)
class Foreign:
    """One operator left to torch; operands by the node they come from."""

    node: Node
    operands: dict[int, Part]
    results: tuple[Part, ...]
    several: bool


def make_foreign(lowering: Lowering, node: Node, position: int) -> Any:
    """Notes the operator and gives its results as values read from outside."""
    assert lowering.foreign is not None
    number = len(lowering.foreign)
    operands = {}
    for reference in sorted(set(node.references())):
        value = lowering.values[reference]
        if not isinstance(value, Value):
            raise Inexpressible(f"no kernel for {node.operator}")
        operands[reference] = Part(f"in{number}.{reference}", value.axes, value.loop, value.kind, tuple(value.cells.flat))
    shapes = lowering.shapes[position]
    several = isinstance(shapes, tuple | list)
    parts, values = [], []
    for place, tensor in enumerate(shapes if several else (shapes,)):
        axes, loop = lowering.axes_for(tuple(tensor.shape))
        kind: Kind = "real" if tensor.dtype.is_floating_point else ("bool" if str(tensor.dtype) == "torch.bool" else "int")
        part = Part(f"out{number}.{place}", axes, loop, kind)
        parts.append(part)
        values.append(_read(lowering, part))
    lowering.foreign.append(Foreign(node, operands, tuple(parts), several))
    return values if several else values[0]


def _read(lowering: Lowering, part: Part) -> Value:
    builder, count = lowering.builder, part.count
    cells = []
    for place in range(count):
        if part.loop is None:
            cell = builder.make("external", (), "real", (part.name, place, count), "S")
        else:
            cell = builder.make("state", (), "real", (part.name, place), part.loop)
        cells.append(cell if part.kind == "real" else (builder.truth(cell) if part.kind == "bool" else builder.rounded(cell)))
    shape = tuple(atom for axis in part.axes for atom in axis if atom != LOOP)
    return Value(part.axes, part.loop, objects(cells, shape))


def to_tensor(part: Part, array: np.ndarray, extent: int) -> Any:
    """(B, cells, padded) reals as a (B, shape) tensor of the part's kind. A part without a loop takes the first turn."""
    import torch

    tensor = torch.from_numpy(array)[..., : extent if part.loop else 1]
    atoms = [atom for axis in part.axes for atom in axis]
    inner = [atom for atom in atoms if atom != LOOP]
    tensor = tensor.reshape(array.shape[0], *inner, *([extent] if part.loop else []))
    if part.loop:
        tensor = tensor.movedim(-1, 1 + atoms.index(LOOP))
    tensor = tensor.reshape(array.shape[0], *_plain(part, extent))
    return {"real": tensor, "bool": tensor != 0, "int": tensor.to(torch.int64)}[part.kind]


def from_tensor(part: Part, tensor: Any, array: np.ndarray, extent: int) -> None:
    """The way back, into the array's first turns; padding repeats the last."""
    import torch

    atoms = [atom for axis in part.axes for atom in axis]
    whole = tensor.reshape(array.shape[0], *(extent if atom == LOOP else atom for atom in atoms))
    if part.loop is None:
        array[:] = whole.reshape(array.shape).to(torch.float64).numpy()
        return
    rows = whole.movedim(1 + atoms.index(LOOP), -1).reshape(array.shape[0], part.count, extent).numpy()
    array[..., :extent] = rows
    array[..., extent:] = rows[..., -1:]


def _plain(part: Part, extent: int) -> list[int]:
    return [int(np.prod([extent if atom == LOOP else atom for atom in axis], dtype=np.int64)) for axis in part.axes]


def run_foreign(foreign: Foreign, tensors: dict[int, Any], settings: list[Setting]) -> list[Any]:
    """The results on a batch: mapped over instances, or drawn instance by instance for random numbers."""
    import torch

    node = foreign.node
    if node.operator in RANDOM:
        rows = [_single(node, {index: tensor[instance] for index, tensor in tensors.items()}, setting) for instance, setting in enumerate(settings)]
        return [torch.stack(rows)]
    if not tensors:
        alone = _single(node, {}, settings[0])
        return [item.expand(settings[0].batch, *item.shape) for item in (alone if foreign.several else [alone])]
    used = sorted(tensors)
    results = torch.func.vmap(lambda *items: _single(node, dict(zip(used, items, strict=True)), settings[0]))(*(tensors[index] for index in used))
    return list(results) if foreign.several else [results]


def _single(node: Node, values: dict[int, Any], setting: Setting) -> Any:
    args = [setting.argument(arg, values) for arg in node.args]
    return call(node.operator, args, {key: setting.argument(value, values) for key, value in node.kwargs}, setting)
