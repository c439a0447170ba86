"""Lowering rules: what moves numbers about. Nothing here computes; cells are renamed, chosen, gathered from
variables or scattered to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from evolake.designs.compiler.cells import (
    LOOP,
    Axis,
    Value,
    broadcast,
    expand_to,
    filled,
    objects,
    reshape,
    scalar,
)
from evolake.designs.compiler.expression import Expression, Inexpressible
from evolake.designs.compiler.lowering_context import Lowering
from evolake.designs.model.graph import Dtype, Node, Reference

Rule = Callable[[Lowering, Node, int], Any]


def _same(lowering: Lowering, node: Node, position: int) -> Value:
    return lowering.operand(node.args[0])


def _view(lowering: Lowering, node: Node, position: int) -> Value:
    return reshape(lowering.operand(node.args[0]), tuple(lowering.shapes[position].shape), lowering.extents)


def _expand(lowering: Lowering, node: Node, position: int) -> Value:
    return expand_to(lowering.operand(node.args[0]), *lowering.axes_of(position))


def _repeat(lowering: Lowering, node: Node, position: int) -> Value:
    value, times = lowering.operand(node.args[0]), lowering.concrete(node.args[1])
    missing = len(times) - len(value.axes)
    axes: list[Axis] = [(), *[()] * (missing - 1), *value.axes] if missing else list(value.axes)
    for place, count in enumerate(times):
        if count != 1 and axes[place] != ():
            raise Inexpressible("a repetition of an axis that is longer than one")
        if count != 1:
            axes[place], _ = lowering._axis(count)
    _, loop = lowering.axes_of(position)
    if value.loop and loop != value.loop:
        raise Inexpressible("a repetition over all variables or clauses")
    return expand_to(value, tuple(axes), loop)


def _unsqueeze(lowering: Lowering, node: Node, position: int) -> Value:
    value = lowering.operand(node.args[0])
    place = node.args[1] % (len(value.axes) + 1)
    return Value((*value.axes[:place], (), *value.axes[place:]), value.loop, value.cells)


def _squeeze(lowering: Lowering, node: Node, position: int) -> Value:
    value = lowering.operand(node.args[0])
    if len(node.args) == 1:
        wanted = set(range(len(value.axes)))
    else:
        dims = node.args[1] if isinstance(node.args[1], tuple) else (node.args[1],)
        wanted = {value.normal(dim) for dim in dims}
    return Value(
        tuple(part for place, part in enumerate(value.axes) if part != () or place not in wanted),
        value.loop,
        value.cells,
    )


def _permuted(value: Value, order: list[int]) -> Value:
    cells = [atom for place in order for atom in value.inner(place)]
    return Value(
        tuple(value.axes[place] for place in order),
        value.loop,
        value.cells.transpose(cells) if cells else value.cells,
    )


def _permute(lowering: Lowering, node: Node, position: int) -> Value:
    value = lowering.operand(node.args[0])
    return _permuted(value, [value.normal(dim) for dim in node.args[1]])


def _transpose(lowering: Lowering, node: Node, position: int) -> Value:
    value = lowering.operand(node.args[0])
    order = list(range(len(value.axes)))
    first, other = (
        value.normal(dim) for dim in (node.args[1:3] if len(node.args) > 2 else (0, len(order) - 1))
    )
    order[first], order[other] = order[other], order[first]
    return _permuted(value, order)


def _select(lowering: Lowering, node: Node, position: int) -> Value:
    value, dim, index = lowering.operand(node.args[0]), node.args[1], lowering.concrete(node.args[2])
    return _taken(value, value.normal(dim), index)


def _taken(value: Value, axis: int, index: int) -> Value:
    place = value.single(axis)
    cells = value.cells if place is None else np.take(value.cells, index, axis=place)
    return Value(value.axes[:axis] + value.axes[axis + 1 :], value.loop, _array(cells))


def _array(cells: Any) -> np.ndarray:
    return cells if isinstance(cells, np.ndarray) else objects([cells], ())


def _slice(lowering: Lowering, node: Node, position: int) -> Value:
    value = lowering.operand(node.args[0])
    dim = value.normal(lowering.parameter(node, 1, "dim", 0))
    start, end, step = (
        lowering.parameter(node, at, name, None) for at, name in ((2, "start"), (3, "end"), (4, "step"))
    )
    if tuple(lowering.shapes[position].shape) == tuple(
        lowering.shapes[node.args[0].index].shape
    ) and step in (None, 1):
        return value
    place = value.single(dim)
    if place is None:
        raise Inexpressible("an empty slice")
    cells = value.cells[(slice(None),) * place + (slice(start, end, step),)]
    return _with_extent(value, dim, place, cells)


def _with_extent(value: Value, dim: int, place: int, cells: np.ndarray) -> Value:
    """`value` with another extent on an axis of one integer; extent one leaves no atom."""
    extent = cells.shape[place]
    part: Axis = (extent,) if extent != 1 else ()
    if extent == 1:
        cells = cells.reshape(cells.shape[:place] + cells.shape[place + 1 :])
    if extent == 0:
        raise Inexpressible("an empty slice")
    return Value((*value.axes[:dim], part, *value.axes[dim + 1 :]), value.loop, cells)


def _unbind(lowering: Lowering, node: Node, position: int) -> list[Value]:
    value = lowering.operand(node.args[0])
    axis = value.normal(lowering.parameter(node, 1, "dim", 0))
    value.single(axis)
    count = value.axes[axis][0] if value.axes[axis] else 1
    return [_taken(value, axis, index) for index in range(count)]


def _split(lowering: Lowering, node: Node, position: int) -> list[Value]:
    value, sizes = lowering.operand(node.args[0]), lowering.concrete(node.args[1])
    axis = value.normal(lowering.parameter(node, 2, "dim", 0))
    place = value.single(axis)
    if place is None:
        return [value]
    extent = value.axes[axis][0]
    widths = (
        sizes
        if isinstance(sizes, list)
        else [min(sizes, extent - start) for start in range(0, extent, sizes)]
    )
    parts, start = [], 0
    for width in widths:
        cells = value.cells[(slice(None),) * place + (slice(start, start + width),)]
        parts.append(_with_extent(value, axis, place, cells))
        start += width
    return parts


def _stack(lowering: Lowering, node: Node, position: int) -> Value:
    values = [lowering.operand(arg) for arg in node.args[0]]
    dim = lowering.parameter(node, 1, "dim", 0) % (len(values[0].axes) + 1)
    widened = [Value((*value.axes[:dim], (), *value.axes[dim:]), value.loop, value.cells) for value in values]
    return _joined(widened, dim)


def _cat(lowering: Lowering, node: Node, position: int) -> Value:
    values = [lowering.operand(arg) for arg in node.args[0]]
    return _joined(values, lowering.parameter(node, 1, "dim", 0) % len(values[0].axes))


def _joined(values: list[Value], dim: int) -> Value:
    parts, loop = [], None
    for value in values:
        place = value.single(dim)
        before = sum(1 for part in value.axes[:dim] for atom in part if atom != LOOP)
        parts.append(np.expand_dims(value.cells, before) if place is None else value.cells)
        loop = loop or value.loop
    common = {tuple(part for place, part in enumerate(value.axes) if place != dim) for value in values}
    if len(common) != 1 or any(value.loop not in (loop, None) for value in values):
        raise Inexpressible("a concatenation of unlike shapes")
    place = sum(1 for part in values[0].axes[:dim] for atom in part if atom != LOOP)
    cells = np.concatenate(parts, axis=place)
    return Value(
        (
            *values[0].axes[:dim],
            (cells.shape[place],) if cells.shape[place] > 1 else (),
            *values[0].axes[dim + 1 :],
        ),
        loop,
        cells if cells.shape[place] > 1 else cells.reshape(cells.shape[:place] + cells.shape[place + 1 :]),
    )


def _flip(lowering: Lowering, node: Node, position: int) -> Value:
    value = lowering.operand(node.args[0])
    cells = value.cells
    for dim in node.args[1]:
        place = value.single(value.normal(dim))
        cells = cells if place is None else np.flip(cells, axis=place)
    return Value(value.axes, value.loop, cells)


def _roll(lowering: Lowering, node: Node, position: int) -> Value:
    value = lowering.operand(node.args[0])
    shifts, dims = node.args[1], node.args[2] if len(node.args) > 2 else ()
    if not dims:
        raise Inexpressible("a roll of everything")
    cells = value.cells
    for shift, dim in zip(shifts, dims, strict=True):
        place = value.single(value.normal(dim))
        cells = cells if place is None else np.roll(cells, shift, axis=place)
    return Value(value.axes, value.loop, cells)


def _like(fill: Callable[[Lowering, Node], Expression]) -> Rule:
    """Return a fresh tensor of the node's own shape, of one number."""

    def rule(lowering: Lowering, node: Node, position: int) -> Value:
        expression = fill(lowering, node)
        dtype = dict(node.kwargs).get("dtype")
        builder = lowering.builder
        kind = str(lowering.shapes[position].dtype)
        if kind == "torch.bool":
            expression = builder.truth(expression)
        elif not lowering.shapes[position].dtype.is_floating_point:
            expression = builder.whole(expression)
        elif isinstance(dtype, Dtype) and dtype.name not in (
            "real",
            str(lowering.setting.real).removeprefix("torch."),
        ):
            raise Inexpressible(f"numbers of type {dtype.name}")
        else:
            expression = builder.real(expression)
        return filled(*lowering.axes_of(position), expression)

    return rule


def _gathered(lowering: Lowering, source: Value, index: Value) -> Value:
    """source[index] for a source that is one number a variable."""
    if len(source.axes) != 1 or source.loop not in ("N", None) or (source.loop and source.axes != ((LOOP,),)):
        raise Inexpressible("a gather from another shape")
    if index.kind != "variable":
        return _chosen(lowering, source, index)
    if source.axes != ((LOOP,),):
        raise Inexpressible("a gather from a vector that is not one number a variable")
    expression = source.cells.flat[0]
    cells = [lowering.builder.gather(expression, item) for item in index.cells.flat]
    return Value(index.axes, index.loop, objects(cells, index.cells.shape))


def _chosen(lowering: Lowering, source: Value, index: Value) -> Value:
    """Return a table of a few numbers looked up by a small integer."""
    if source.loop or index.kind not in ("int", "bool") or source.axes == ((),):
        raise Inexpressible("a gather by a computed index")
    table = list(source.cells.flat)
    _within(lowering, index, len(table))
    return lowering.each(lambda item: _lookup(lowering, table, item), index)


def _within(lowering: Lowering, index: Value, extent: int) -> None:
    """Refuses a computed place that may be outside its axis: torch raises there, and a kernel would not."""
    for item in index.cells.flat:
        places = lowering.builder.outcomes(item)
        if places is None or not all(0 <= int(place) < extent for place in places):
            raise Inexpressible("a computed place that may be out of range")


def _lookup(lowering: Lowering, table: list[Expression], item: Expression) -> Expression:
    builder = lowering.builder
    result = table[-1]
    for place in range(len(table) - 2, -1, -1):
        result = builder.select(builder.compare("eq", item, builder.integer(place)), table[place], result)
    return result


def _index(lowering: Lowering, node: Node, position: int) -> Value:
    indices = node.args[1]
    if len(indices) != 1 or not isinstance(indices[0], Reference):
        raise Inexpressible("indexing by several tensors")
    return _gathered(lowering, lowering.operand(node.args[0]), lowering.operand(indices[0]))


def _index_select(lowering: Lowering, node: Node, position: int) -> Value:
    source = lowering.operand(node.args[0])
    if source.normal(node.args[1]) != 0 or len(source.axes) != 1:
        raise Inexpressible("an index_select of another shape")
    return _gathered(lowering, source, lowering.operand(node.args[2]))


def _gather(lowering: Lowering, node: Node, position: int) -> Value:
    """Along the only axis of a vector, or along a small axis by a computed position."""
    source, index = lowering.operand(node.args[0]), lowering.operand(node.args[2])
    dim = source.normal(node.args[1])
    if len(source.axes) == 1 and index.kind == "variable":
        return _gathered(lowering, source, index)
    place = source.single(dim)
    if place is None or index.kind != "int" or len(index.axes) != len(source.axes):
        raise Inexpressible("a gather of another shape")
    for other in range(len(source.axes)):
        if other != dim and source.axes[other] != index.axes[other]:
            raise Inexpressible("a gather that leaves some out")
    _within(lowering, index, source.axes[dim][0])
    slices = [
        Value(
            (*source.axes[:dim], (), *source.axes[dim + 1 :]),
            source.loop,
            _array(np.take(source.cells, at, axis=place)),
        )
        for at in range(source.axes[dim][0])
    ]
    return lowering.each(lambda item, *table: _lookup(lowering, list(table), item), index, *slices)


def _scatter(lowering: Lowering, node: Node, position: int, *, add: bool = False) -> Value:
    """Into a small axis, by computed positions: each cell asks whether it is meant. With `add` the new value
    is added to the old."""
    builder = lowering.builder

    def put(old: Expression, here: Expression, value: Expression, at: int) -> Expression:
        new = builder.apply("add", old, value) if add else value
        return builder.select(builder.compare("eq", here, builder.integer(at)), new, old)

    target, index = lowering.operand(node.args[0]), lowering.operand(node.args[2])
    source = lowering.operand(node.args[3])
    dim = target.normal(node.args[1])
    place = target.single(dim)
    if place is None or index.kind != "int" or node.kwargs or len(index.axes) != len(target.axes):
        raise Inexpressible("a scatter of another shape")
    _within(lowering, index, target.axes[dim][0])
    index_place = index.single(dim)
    count = 1 if index_place is None else index.axes[dim][0]
    for other in range(len(target.axes)):
        if other != dim and target.axes[other] != index.axes[other]:
            raise Inexpressible("a scatter that leaves some out")
    without = Value((*target.axes[:dim], (), *target.axes[dim + 1 :]), target.loop, target.cells)
    slices = []
    for at in range(target.axes[dim][0]):
        part = Value(without.axes, target.loop, _array(np.take(target.cells, at, axis=place)))
        for turn in range(count):
            where = _selected(index, dim, turn)
            new = _selected(source, dim, turn) if source.axes else source
            part = lowering.each(lambda old, here, value, at=at: put(old, here, value, at), part, where, new)
        slices.append(part)
    return _joined(slices, dim)


def _selected(value: Value, dim: int, at: int) -> Value:
    """One position of a small axis, the axis kept with extent one."""
    place = value.single(dim)
    if place is None:
        return value
    return Value(
        (*value.axes[:dim], (), *value.axes[dim + 1 :]),
        value.loop,
        _array(np.take(value.cells, at, axis=place)),
    )


def _scatter_add(lowering: Lowering, node: Node, position: int) -> Value:
    """Sum over the literals of each variable; or into a small axis."""
    target, dim, index, source = (
        lowering.operand(node.args[0]),
        node.args[1],
        lowering.operand(node.args[2]),
        lowering.operand(node.args[3]),
    )
    if index.kind != "variable" and node.operator == "scatter_add.default":
        return _scatter(lowering, node, position, add=True)
    if len(target.axes) != 1 or target.loop != "N" or dim not in (0, -1) or node.kwargs:
        raise Inexpressible("a scatter of another shape")
    return _summed(lowering, target, index, source)


def _index_put(lowering: Lowering, node: Node, position: int) -> Value:
    indices = node.args[1]
    accumulate = node.args[3] if len(node.args) > 3 else dict(node.kwargs).get("accumulate", False)
    target = lowering.operand(node.args[0])
    if len(indices) != 1 or not accumulate or len(target.axes) != 1 or target.loop != "N":
        raise Inexpressible("an index_put that does not add up")
    return _summed(lowering, target, lowering.operand(indices[0]), lowering.operand(node.args[2]))


def _scatter_reduce(lowering: Lowering, node: Node, position: int) -> Value:
    if node.args[4] != "sum" or dict(node.kwargs).get("include_self", True) is not True or len(node.args) > 5:
        raise Inexpressible(f"a scatter that takes the {node.args[4]}")
    target = lowering.operand(node.args[0])
    if len(target.axes) != 1 or target.loop != "N":
        raise Inexpressible("a scatter of another shape")
    return _summed(lowering, target, lowering.operand(node.args[2]), lowering.operand(node.args[3]))


def _summed(lowering: Lowering, target: Value, index: Value, source: Value) -> Value:
    if index.kind != "variable":
        raise Inexpressible("a scatter by a computed index")
    axes, loop, (where, values) = broadcast([index, source])
    if axes != index.axes or loop != "M":
        raise Inexpressible("a scatter of another shape")
    builder = lowering.builder
    total = builder.scatter(list(zip(where.flat, values.flat, strict=True)))
    base = target.cells.flat[0]
    if builder.value_of(base) != 0.0:
        total = builder.apply("add", base, total)
    return Value(((LOOP,),), "N", objects([total], (1,)).reshape(()))


RULES: dict[str, Rule] = {
    **{
        f"{name}.default": _same
        for name in ("clone", "detach", "alias", "lift_fresh_copy", "lift_fresh", "contiguous", "positive")
    },
    **dict.fromkeys(("view.default", "_unsafe_view.default", "reshape.default"), _view),
    "expand.default": _expand,
    "repeat.default": _repeat,
    "unsqueeze.default": _unsqueeze,
    "squeeze.default": _squeeze,
    "squeeze.dim": _squeeze,
    "squeeze.dims": _squeeze,
    "permute.default": _permute,
    "transpose.int": _transpose,
    "t.default": _transpose,
    "select.int": _select,
    "slice.Tensor": _slice,
    "unbind.int": _unbind,
    "split.Tensor": _split,
    "split_with_sizes.default": _split,
    "stack.default": _stack,
    "cat.default": _cat,
    "flip.default": _flip,
    "roll.default": _roll,
    "index.Tensor": _index,
    "index_select.default": _index_select,
    "gather.default": _gather,
    "take.default": lambda lowering, node, position: _gathered(
        lowering, *(lowering.operand(arg) for arg in node.args)
    ),
    "scatter.src": _scatter,
    "scatter.value": _scatter,
    "scatter_add.default": _scatter_add,
    "index_add.default": _scatter_add,
    "index_put.default": _index_put,
    "scatter_reduce.two": _scatter_reduce,
    "zeros_like.default": _like(lambda lowering, node: lowering.builder.literal(0.0)),
    "empty_like.default": _like(lambda lowering, node: lowering.builder.literal(0.0)),
    "ones_like.default": _like(lambda lowering, node: lowering.builder.literal(1.0)),
    "full_like.default": _like(lambda lowering, node: lowering.number(node.args[1])),
    "new_zeros.default": _like(lambda lowering, node: lowering.builder.literal(0.0)),
    "new_ones.default": _like(lambda lowering, node: lowering.builder.literal(1.0)),
    "new_full.default": _like(lambda lowering, node: lowering.number(node.args[2])),
    "zeros.default": _like(lambda lowering, node: lowering.builder.literal(0.0)),
    "empty.memory_format": _like(lambda lowering, node: lowering.builder.literal(0.0)),
    "ones.default": _like(lambda lowering, node: lowering.builder.literal(1.0)),
    "full.default": _like(lambda lowering, node: lowering.number(node.args[1])),
    "scalar_tensor.default": lambda lowering, node, position: scalar(lowering.number(node.args[0])),
}
