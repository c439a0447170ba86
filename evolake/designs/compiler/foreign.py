"""Operators that no kernel is generated for, in a graph that is otherwise compiled.

Such an operator (a cumulative sum, a sort of all clauses, random numbers) is run by torch on the whole batch
between two kernels: the kernel before leaves its operands in arrays, the kernel after reads its results as if
they were states. Here: what is kept about one, and the two ways between arrays (B, cells, padded extent) and
tensors (B, shape).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evolake.designs.compiler.cells import LOOP, Axis, Value, objects
from evolake.designs.compiler.expression import LARGEST_WHOLE, Domain, Expression, Inexpressible, Kind
from evolake.designs.compiler.lowering_context import Lowering
from evolake.designs.model.graph import Node
from evolake.designs.model.operators import RANDOM, UNARY, Setting, call
from evolake.designs.model.stepper import EVALUATION_ERRORS, Failed, draw_setting

OWN = "~"
"""What names of our arrays begin with: no variable of a design can (`contract.NAME`)."""
MOST_FOREIGN = 16
"""With more of them torch runs the whole graph."""
_EACH = frozenset(f"{name}.default" for name in UNARY)
_ALONG = frozenset({"cumsum.default", "cumprod.default", "sort.default", "argsort.default"})


@dataclass(frozen=True)
class Part:
    """One operand or result: where it is kept, its axes and its loop (None: a scalar, or a few, an instance),
    and its kind."""

    name: str
    axes: tuple[Axis, ...]
    loop: Domain | None
    kind: Kind
    cells: tuple[Expression, ...] = ()

    @property
    def count(self) -> int:
        """Return the number of cells of one entry of the loop."""
        return int(np.prod([atom for part in self.axes for atom in part if atom != LOOP], dtype=np.int64))

    def unstacked(self, tensor: Any, extent: int) -> list[Any]:
        """Return a (B, shape) tensor as its cells: (B, extent) each, or (B, 1) without a loop."""
        atoms = [atom for axis in self.axes for atom in axis]
        whole = tensor.reshape(tensor.shape[0], *(extent if atom == LOOP else atom for atom in atoms))
        if self.loop is not None:
            whole = whole.movedim(1 + atoms.index(LOOP), -1)
        return list(whole.reshape(tensor.shape[0], self.count, extent if self.loop else 1).unbind(1))


@dataclass(frozen=True)
class Foreign:
    """One operator left to torch, its position in the graph, and its operands by the node they come from."""

    node: Node
    position: int
    operands: dict[int, Part]
    results: tuple[Part, ...]
    several: bool


def make_foreign(lowering: Lowering, node: Node, position: int) -> Any:
    """Note the operator and return its results as values read from outside."""
    assert lowering.foreign is not None
    number = len(lowering.foreign)
    operands = {}
    for reference in sorted(set(node.references())):
        value = lowering.values[reference]
        if not isinstance(value, Value):
            raise Inexpressible(f"no kernel for {node.operator}")
        operands[reference] = Part(
            f"{OWN}in{number}.{reference}", value.axes, value.loop, value.kind, tuple(value.cells.flat)
        )
    for reference in operands:
        if operands[reference].kind not in lowering.kinds_of(lowering.shapes[reference].dtype):
            raise Inexpressible(
                f"numbers of type {lowering.shapes[reference].dtype} given to {node.operator}"
            )
    shapes = lowering.shapes[position]
    several = isinstance(shapes, tuple | list)
    parts, values = [], []
    for place, tensor in enumerate(shapes if several else (shapes,)):
        axes, loop = lowering.axes_for(tuple(tensor.shape))
        if not lowering.kinds_of(tensor.dtype):
            raise Inexpressible(f"numbers of type {tensor.dtype} of {node.operator}")
        kind: Kind
        if tensor.dtype.is_floating_point:
            kind = "real"
        elif str(tensor.dtype) == "torch.bool":
            kind = "bool"
        else:
            kind = "int"
        part = Part(f"{OWN}out{number}.{place}", axes, loop, kind)
        parts.append(part)
        values.append(_read(lowering, part))
    lowering.foreign.append(Foreign(node, position, operands, tuple(parts), several))
    return values if several else values[0]


def _read(lowering: Lowering, part: Part) -> Value:
    builder, count = lowering.builder, part.count
    cells = []
    for place in range(count):
        if part.loop is None:
            cell = builder.make("external", (), "real", (part.name, place, count), "S")
        else:
            cell = builder.make("state", (), "real", (part.name, place), part.loop)
        if part.kind == "real":
            typed = cell
        elif part.kind == "bool":
            typed = builder.truth(cell)
        else:
            typed = builder.rounded(cell)
        cells.append(typed)
    shape = tuple(atom for axis in part.axes for atom in axis if atom != LOOP)
    return Value(part.axes, part.loop, objects(cells, shape))


def to_tensor(part: Part, cells: Any, extent: int) -> Any:
    """Return a (B, cells, at least extent) tensor of reals as a (B, shape) tensor of the part's kind. A part
    without a loop takes the first turn."""
    import torch

    tensor = cells[..., : extent if part.loop else 1]
    atoms = [atom for axis in part.axes for atom in axis]
    inner = [atom for atom in atoms if atom != LOOP]
    tensor = tensor.reshape(cells.shape[0], *inner, *([extent] if part.loop else []))
    if part.loop:
        tensor = tensor.movedim(-1, 1 + atoms.index(LOOP))
    tensor = tensor.reshape(cells.shape[0], *_plain(part, extent))
    if part.kind == "real":
        return tensor
    return tensor != 0 if part.kind == "bool" else tensor.to(torch.int64)


def check_whole(part: Part, tensor: Any) -> None:
    """Raise Inexpressible for whole numbers that a real does not hold exactly: between kernels they are
    carried as reals."""
    if (
        part.kind == "int"
        and tensor.numel()
        and not -LARGEST_WHOLE <= int(tensor.amin()) <= int(tensor.amax()) <= LARGEST_WHOLE
    ):
        raise Inexpressible("whole numbers beyond those that a kernel holds")


def from_tensor(part: Part, tensor: Any, array: np.ndarray, extent: int) -> None:
    """Write back into the array's first turns; padding repeats the last. Raises Inexpressible where it would
    not be exact."""
    import torch

    check_whole(part, tensor)
    rows = torch.stack(part.unstacked(tensor, extent), dim=1).to(torch.float64).numpy()
    array[..., : rows.shape[-1]] = rows
    array[..., rows.shape[-1] :] = rows[..., -1:]


def _plain(part: Part, extent: int) -> list[int]:
    return [
        int(np.prod([extent if atom == LOOP else atom for atom in axis], dtype=np.int64))
        for axis in part.axes
    ]


def run_foreign(
    foreign: Foreign, tensors: dict[int, Any], setting: Setting, seed: int, step: int
) -> list[Any]:
    """Return the results on a batch: mapped over instances, or drawn instance by instance for random
    numbers.

    Raises:
        Failed: torch refuses the operator.
    """
    try:
        return _results(foreign, tensors, setting, seed, step)
    except EVALUATION_ERRORS as error:
        raise Failed(" ".join(str(error).split())[:300]) from None


def _results(foreign: Foreign, tensors: dict[int, Any], setting: Setting, seed: int, step: int) -> list[Any]:
    import torch

    node = foreign.node
    if node.operator in RANDOM:
        rows = []
        for instance in range(setting.batch):
            drawn = draw_setting(setting, seed, step, foreign.position, instance)
            rows.append(_single(node, {index: tensor[instance] for index, tensor in tensors.items()}, drawn))
        return [torch.stack(rows)]
    if not tensors:
        alone = _single(node, {}, setting)
        return [item.expand(setting.batch, *item.shape) for item in (alone if foreign.several else [alone])]
    used = sorted(tensors)
    if (direct := _direct(node, tensors, setting)) is not None:
        return direct
    try:
        results = torch.func.vmap(lambda *items: _single(node, dict(zip(used, items, strict=True)), setting))(
            *(tensors[index] for index in used)
        )
    except EVALUATION_ERRORS:  # vmap refuses some graphs that torch runs, of numbers without axes above all; what torch refuses is raised here again  # noqa: E501
        rows = [
            _single(node, {index: tensors[index][instance] for index in used}, setting)
            for instance in range(setting.batch)
        ]
        return (
            [torch.stack(items) for items in zip(*rows, strict=True)]
            if foreign.several
            else [torch.stack(rows)]
        )
    return list(results) if foreign.several else [results]


def _direct(node: Node, tensors: dict[int, Any], setting: Setting) -> list[Any] | None:
    """Return the results without vmap, for operators that act alike on a batch: on each number, or along one
    axis of the only operand."""
    args = [setting.argument(arg, tensors) for arg in node.args]
    kwargs = {key: setting.argument(value, tensors) for key, value in node.kwargs}
    if (node.operator not in _ALONG and node.operator not in _EACH) or len(tensors) != 1:
        return None
    if node.operator in _ALONG:
        if len(args) < 2 or not isinstance(args[1], int) or tensors[node.args[0].index].ndim < 2:
            return None
        args[1] += 1 if args[1] >= 0 else 0
    result = call(node.operator, args, kwargs, setting)
    return list(result) if isinstance(result, tuple | list) else [result]


def _single(node: Node, values: dict[int, Any], setting: Setting) -> Any:
    args = [setting.argument(arg, values) for arg in node.args]
    return call(
        node.operator, args, {key: setting.argument(value, values) for key, value in node.kwargs}, setting
    )
