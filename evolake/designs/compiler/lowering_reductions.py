"""Lowering rules: sums, means, largest and smallest, norms, the best few of a clause's literals, softmax."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from evolake.designs.compiler.cells import LOOP, Value, objects
from evolake.designs.compiler.expression import Builder, Expression, Inexpressible
from evolake.designs.compiler.lowering_arithmetic import power
from evolake.designs.compiler.lowering_context import Lowering
from evolake.designs.model.graph import Node, Symbol

Rule = Callable[[Lowering, Node, int], Any]
_PAIRS = {"sum": "add", "max": "maximum", "min": "minimum", "prod": "mul"}
_MOST_SORTED = 8


def reduced(
    lowering: Lowering, value: Value, dims: Sequence[int] | None, name: str, *, keep: bool = False
) -> Value:
    """Return sum, max, min or prod over some axes (all when None or empty)."""
    builder = lowering.builder
    every = range(len(value.axes))
    over = sorted({value.normal(dim) for dim in dims}) if dims else list(every)
    cells = value.cells
    atoms = [place for dim in over for place in value.inner(dim)]
    if atoms:
        rest = [place for place in range(cells.ndim) if place not in atoms]
        shape = tuple(cells.shape[place] for place in rest)
        rows = cells.transpose(rest + atoms).reshape(-1, math.prod(cells.shape[place] for place in atoms))
        cells = objects(
            [reduce(lambda a, b: builder.apply(_PAIRS[name], a, b), row) for row in rows.tolist()], shape
        )
    looped = any(LOOP in value.axes[dim] for dim in over)
    if looped:
        if name == "prod" or value.loop is None:
            raise Inexpressible("a product over all variables or clauses")
        cells = objects([builder.reduce(name, item, value.loop) for item in cells.flat], cells.shape)
    axes = tuple(() if dim in over else value.axes[dim] for dim in every if keep or dim not in over)
    return Value(axes, None if looped else value.loop, cells)


def count(lowering: Lowering, value: Value, dims: Sequence[int] | None, less: int = 0) -> Expression:
    """Return how many numbers a reduction runs over, less `less`."""
    over = {value.normal(dim) for dim in dims} if dims else set(range(len(value.axes)))
    small = math.prod(atom for dim in over for atom in value.axes[dim] if atom != LOOP)
    if any(LOOP in value.axes[dim] for dim in over):
        symbol = Symbol(0, small, 0, -less) if value.loop == "N" else Symbol(0, 0, small, -less)
        return lowering.builder.number(symbol)
    return lowering.builder.number(small - less)


def _real(lowering: Lowering, node: Node) -> Value:
    value = lowering.operand(node.args[0])
    if value.kind in ("variable", "int"):
        raise Inexpressible("arithmetic on integers")
    return lowering.each(lowering.builder.real, value)


def _options(lowering: Lowering, node: Node) -> tuple[list[int] | None, bool]:
    if "dtype" in dict(node.kwargs):
        raise Inexpressible("a reduction in another type")
    dims = lowering.parameter(node, 1, "dim", None)
    return ([dims] if isinstance(dims, int) else dims), bool(lowering.parameter(node, 2, "keepdim", False))


def _reduction(name: str) -> Rule:
    def rule(lowering: Lowering, node: Node, position: int) -> Value:
        dims, keep = _options(lowering, node)
        return reduced(lowering, _real(lowering, node), dims, name, keep=keep)

    return rule


def mean(lowering: Lowering, value: Value, dims: Sequence[int] | None, *, keep: bool = False) -> Value:
    """Return the mean over dimensions `dims` (None: all), which stay with size 1 where `keep`."""
    number = count(lowering, value, dims)
    return lowering.each(
        lambda item: lowering.builder.apply("div", item, number),
        reduced(lowering, value, dims, "sum", keep=keep),
    )


def _mean(lowering: Lowering, node: Node, position: int) -> Value:
    dims, keep = _options(lowering, node)
    return mean(lowering, _real(lowering, node), dims, keep=keep)


def _quantified(name: str) -> Rule:
    """Lower any and all: the largest or smallest of truth values."""

    def rule(lowering: Lowering, node: Node, position: int) -> Value:
        builder = lowering.builder
        dims, keep = _options(lowering, node)
        truth = lowering.each(lambda item: builder.real(builder.truth(item)), lowering.operand(node.args[0]))
        result = reduced(lowering, truth, dims, "max" if name == "any" else "min", keep=keep)
        return lowering.each(lambda item: builder.compare("gt", item, builder.literal(0.5)), result)

    return rule


def _variance(root: bool, both: bool) -> Rule:
    def rule(lowering: Lowering, node: Node, position: int) -> Any:
        builder = lowering.builder
        value, options = _real(lowering, node), dict(node.kwargs)
        dims = lowering.parameter(node, 1, "dim", None)
        correction = options.get("correction", 1)
        keep = bool(options.get("keepdim", False))
        if isinstance(dims, bool) or not isinstance(correction, int) or len(node.args) > 2:
            raise Inexpressible("options of a variance")
        centre = mean(lowering, value, dims, keep=True)
        off = lowering.each(lambda item, middle: builder.apply("sub", item, middle), value, centre)
        total = reduced(
            lowering,
            lowering.each(lambda item: builder.apply("mul", item, item), off),
            dims,
            "sum",
            keep=keep,
        )
        number = count(lowering, value, dims, less=correction)
        result = lowering.each(lambda item: builder.apply("div", item, number), total)
        if root:
            result = lowering.each(lambda item: builder.apply("sqrt", item), result)
        return [result, mean(lowering, value, dims, keep=keep)] if both else result

    return rule


def _norm(lowering: Lowering, node: Node, position: int) -> Value:
    """linalg_vector_norm and norm, of any order."""
    builder = lowering.builder
    value = _real(lowering, node)
    order = lowering.parameter(node, 1, "ord", lowering.parameter(node, 1, "p", 2))
    order = 2 if order is None else order
    dims, keep = lowering.parameter(node, 2, "dim", None), bool(lowering.parameter(node, 3, "keepdim", False))
    dims = [dims] if isinstance(dims, int) else dims
    if "dtype" in dict(node.kwargs) or not isinstance(order, int | float) or order == 0:
        raise Inexpressible("options of a norm")
    size = lowering.each(lambda item: builder.apply("abs", item), value)
    if math.isinf(order):
        return reduced(lowering, size, dims, "max" if order > 0 else "min", keep=keep)
    if order == 1:
        return reduced(lowering, size, dims, "sum", keep=keep)
    total = reduced(
        lowering,
        lowering.each(lambda item: power(builder, item, builder.number(order)), size),
        dims,
        "sum",
        keep=keep,
    )
    return lowering.each(lambda item: power(builder, item, builder.number(1.0 / order)), total)


def ranked(
    builder: Builder, items: list[Expression], *, largest: bool = True
) -> tuple[list[Expression], list[Expression]]:
    """Return values from largest to smallest (or the other way round) and the place each came from; of equals
    the earlier place comes first, and what is no number is above all numbers, as in torch.
    """
    if len(items) > _MOST_SORTED:
        raise Inexpressible("a sort of many")
    beats = {}
    for later in range(len(items)):
        for earlier in range(later):
            beats[later, earlier] = _before(builder, items[later], items[earlier], largest)
            beats[earlier, later] = builder.negation(beats[later, earlier])
    placed: list[list[Expression]] = []
    for item in range(len(items)):
        exactly = [builder.boolean(True)]
        for other in range(len(items)):
            if other != item:
                won = beats[other, item]
                shifted = [builder.boolean(False), *exactly]
                exactly = [
                    builder.choose(won, up, stay)
                    for up, stay in zip(shifted, [*exactly, builder.boolean(False)], strict=True)
                ]
        placed.append(exactly)
    values, places = [], []
    for rank in range(len(items)):
        value, place = items[-1], builder.integer(len(items) - 1)
        for item in range(len(items) - 2, -1, -1):
            value = builder.select(placed[item][rank], items[item], value)
            place = builder.select(placed[item][rank], builder.integer(item), place)
        values.append(value)
        places.append(place)
    result = _extremes(builder, items)
    if result is None:
        return values, places
    return result if largest else result[::-1], places


def _before(builder: Builder, later: Expression, earlier: Expression, largest: bool) -> Expression:
    """Return whether an item comes before an earlier one: strictly larger (or smaller), something that is no
    number being the largest."""
    small, large = (earlier, later) if largest else (later, earlier)
    return builder.both(
        builder.negation(builder.compare("le", large, small)), builder.compare("eq", small, small)
    )


def _extremes(builder: Builder, items: list[Expression]) -> list[Expression] | None:
    """Return the values from largest to smallest, by fewer instructions, if there are two or three."""
    if len(items) == 2:
        return [builder.apply("maximum", *items), builder.apply("lesser", *items)]
    if len(items) == 3:
        a, b, c = items
        high, low = builder.apply("maximum", a, b), builder.apply("lesser", a, b)
        middle = builder.apply("maximum", low, builder.apply("lesser", high, c))
        return [builder.apply("maximum", high, c), middle, builder.apply("lesser", low, c)]
    return None


def _sorted(
    value: Value, dim: int, builder: Builder, largest: bool, keep: int, *, first: bool = False
) -> list[Value]:
    """Return the first `keep` of a small axis in order, as values and places. `first`: what is no number
    comes first, however the rest is ordered."""
    place = value.single(dim)
    if place is None:
        return [
            value,
            Value(
                value.axes, value.loop, objects([builder.integer(0)] * value.cells.size, value.cells.shape)
            ),
        ]
    rows = np.moveaxis(value.cells, place, -1)
    shape = (*rows.shape[:-1], keep)
    values, places = [], []
    for row in rows.reshape(-1, rows.shape[-1]).tolist():
        if largest or first:
            signed = row if largest else [builder.apply("neg", item) for item in row]
            ordered, where = ranked(builder, signed)
            ordered = ordered if largest else [builder.apply("neg", item) for item in ordered]
        else:
            ordered, where = ranked(builder, row, largest=False)
        values += ordered[:keep]
        places += where[:keep]
    axes = (*value.axes[:dim], (keep,) if keep > 1 else (), *value.axes[dim + 1 :])
    results = []
    for items in (values, places):
        cells = np.moveaxis(objects(items, shape), -1, place)
        results.append(
            Value(
                axes,
                value.loop,
                cells if keep > 1 else cells.reshape(cells.shape[:place] + cells.shape[place + 1 :]),
            )
        )
    return results


def _topk(lowering: Lowering, node: Node, position: int) -> list[Value]:
    value = _real(lowering, node)
    dim = value.normal(lowering.parameter(node, 2, "dim", -1))
    return _sorted(
        value,
        dim,
        lowering.builder,
        bool(lowering.parameter(node, 3, "largest", True)),
        lowering.concrete(node.args[1]),
    )


def _sort(only_places: bool, stable: bool) -> Rule:
    def rule(lowering: Lowering, node: Node, position: int) -> Any:
        value = _real(lowering, node)
        at = 2 if stable else 1
        dim = value.normal(lowering.parameter(node, at, "dim", -1))
        down = bool(lowering.parameter(node, at + 1, "descending", False))
        extent = value.axes[dim][0] if value.axes[dim] else 1
        results = (
            _sorted(value, dim, lowering.builder, down, extent)
            if LOOP not in value.axes[dim]
            else _refuse("a sort of all")
        )
        return results[1] if only_places else results

    return rule


def _refuse(what: str) -> Any:
    raise Inexpressible(what)


def _extreme(largest: bool, only_places: bool = False) -> Rule:
    """Lower max and min with their place along a small axis; without an axis only the value, over
    everything."""

    def rule(lowering: Lowering, node: Node, position: int) -> Any:
        value = _real(lowering, node)
        dim = lowering.parameter(node, 1, "dim", None)
        if dim is None:
            return (
                _refuse("a place among all")
                if only_places
                else reduced(lowering, value, None, "max" if largest else "min")
            )
        dim, keep = value.normal(dim), bool(lowering.parameter(node, 2, "keepdim", False))
        if LOOP in value.axes[dim]:
            raise Inexpressible("a place among all variables or clauses")
        results = _sorted(value, dim, lowering.builder, largest, 1, first=True)
        if not keep:
            results = [
                Value(item.axes[:dim] + item.axes[dim + 1 :], item.loop, item.cells) for item in results
            ]
        return results[1] if only_places else results

    return rule


def _softmax(logarithm: bool) -> Rule:
    def rule(lowering: Lowering, node: Node, position: int) -> Value:
        builder = lowering.builder
        value = _real(lowering, node)
        dims = [value.normal(node.args[1])]
        top = reduced(lowering, value, dims, "max", keep=True)
        shifted = lowering.each(lambda item, high: builder.apply("sub", item, high), value, top)
        grown = lowering.each(lambda item: builder.apply("exp", item), shifted)
        total = reduced(lowering, grown, dims, "sum", keep=True)
        if logarithm:
            return lowering.each(
                lambda item, all_: builder.apply("sub", item, builder.apply("log", all_)), shifted, total
            )
        return lowering.each(lambda item, all_: builder.apply("div", item, all_), grown, total)

    return rule


def _logsumexp(lowering: Lowering, node: Node, position: int) -> Value:
    """Shifted by the largest; by nothing where that is infinite, as in torch."""
    builder = lowering.builder
    dims, keep = _options(lowering, node)
    value = _real(lowering, node)

    def finite(high: Expression) -> Expression:
        endless = builder.compare("eq", builder.apply("abs", high), builder.literal(math.inf))
        return builder.select(endless, builder.literal(0.0), high)

    top = lowering.each(finite, reduced(lowering, value, dims, "max", keep=True))
    grown = lowering.each(
        lambda item, high: builder.apply("exp", builder.apply("sub", item, high)), value, top
    )
    total = reduced(lowering, grown, dims, "sum", keep=keep)
    high = lowering.each(finite, reduced(lowering, value, dims, "max", keep=keep))
    return lowering.each(
        lambda item, most: builder.apply("add", builder.apply("log", item), most), total, high
    )


RULES: dict[str, Rule] = {
    "sum.default": _reduction("sum"),
    "sum.dim_IntList": _reduction("sum"),
    "amax.default": _reduction("max"),
    "amin.default": _reduction("min"),
    "prod.default": _reduction("prod"),
    "prod.dim_int": _reduction("prod"),
    "mean.default": _mean,
    "mean.dim": _mean,
    "max.default": _extreme(True),
    "min.default": _extreme(False),
    "max.dim": _extreme(True),
    "min.dim": _extreme(False),
    "argmax.default": _extreme(True, only_places=True),
    "argmin.default": _extreme(False, only_places=True),
    **{
        f"{name}.{overload}": _quantified(name)
        for name in ("any", "all")
        for overload in ("default", "dim", "dims")
    },
    "var.correction": _variance(False, False),
    "std.correction": _variance(True, False),
    "var_mean.correction": _variance(False, True),
    "std_mean.correction": _variance(True, True),
    "linalg_vector_norm.default": _norm,
    "norm.Scalar": _norm,
    "norm.ScalarOpt_dim": _norm,
    "topk.default": _topk,
    "sort.default": _sort(False, False),
    "sort.stable": _sort(False, True),
    "argsort.default": _sort(True, False),
    "argsort.stable": _sort(True, True),
    "_softmax.default": _softmax(False),
    "_log_softmax.default": _softmax(True),
    "logsumexp.default": _logsumexp,
}
