"""From a graph of tensors to expressions of cells: one rule an operator.

Lowering happens at two made-up sizes that cannot be mistaken for a small axis, so the result holds for every
N and M; numbers that depend on the size stay symbolic and become slots. What only depends on numbers in the
file is computed here, in the type the kernel runs in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evolake.designs.compiler import lowering_arithmetic, lowering_reductions, lowering_shapes
from evolake.designs.compiler.cells import Value, filled, objects
from evolake.designs.compiler.expression import Builder, Expression, Inexpressible, Kind
from evolake.designs.compiler.foreign import Foreign, make_foreign
from evolake.designs.compiler.lowering_arithmetic import limited
from evolake.designs.compiler.lowering_context import Lowering
from evolake.designs.model.contract import TracedDesign, Variable
from evolake.designs.model.graph import Graph, Node, Power, Symbol
from evolake.designs.model.graph_check import infer
from evolake.designs.model.operators import RANDOM, Setting, evaluate

GENERIC_N, GENERIC_M = 10_007, 43_019
RULES = lowering_arithmetic.RULES | lowering_shapes.RULES | lowering_reductions.RULES


@dataclass(frozen=True)
class Lowered:
    """One step of a design: for each variable the next value of each of its cells (row-major over the axes
    next to N or M), and in `states` its loop and number of cells. `foreign` are the operators left to torch,
    in order.
    """

    moves: dict[str, list[Expression]]
    states: dict[str, tuple[str, int]]
    builder: Builder
    foreign: tuple[Foreign, ...]


def lower(traced: TracedDesign, dtype: str, *, foreign: bool = False) -> Lowered:
    """Return one step of a design as expressions. With `foreign`, an operator without a rule becomes data
    from outside instead of an error.

    Raises:
        Inexpressible: with the reason, when some part has no rule.
    """
    import torch

    n, m = traced.size or (GENERIC_N, GENERIC_M)
    if n == m or min(n, m) <= 64 or m % n == 0:
        raise Inexpressible("a size that cannot be distinguished from the small axes")
    for variable in traced.variables:
        if variable.shape[1:].count("N") + variable.shape[1:].count("M") != 1:
            raise Inexpressible(f"the shape of {variable.name!r}")
    graph = traced.gradient()
    variables = {variable.name: variable for variable in traced.variables}
    real = getattr(torch, dtype)
    shapes = infer(graph, variables, Setting(real, 1, n, m, "meta"))
    lowering = Lowering(
        Builder(), {"N": n, "M": m}, Setting(real, 1, n, m), shapes, foreign=[] if foreign else None
    )
    folded = _fold(graph, lowering.setting)
    for position, node in enumerate(graph.nodes):
        lowering.values.append(_value(lowering, node, position, folded))
    moves, states = {}, {}
    for name, index in graph.outputs:
        loop = "N" if "N" in variables[name].shape else "M"
        shape = tuple(
            extent for extent in variables[name].shape[1:] if isinstance(extent, int) and extent > 1
        )
        value = lowering.values[index]
        if not isinstance(value, Value) or value.loop not in (loop, None) or value.cells.shape != shape:
            raise Inexpressible(f"the gradient of {name!r} has an unusual form")
        states[name] = (loop, value.cells.size)
        cells = [
            lowering.builder.make("state", (), "real", (name, place), loop)
            for place in range(value.cells.size)
        ]
        moves[name] = [
            _moved(lowering.builder, variables[name], state, gradient, traced.learning_rate)
            for state, gradient in zip(cells, value.cells.flat, strict=True)
        ]
    return Lowered(moves, states, lowering.builder, tuple(lowering.foreign or ()))


def _moved(
    builder: Builder, variable: Variable, state: Expression, gradient: Expression, learning_rate: float
) -> Expression:
    """clamp(x - lr * gradient)."""
    new = builder.apply("sub", state, builder.apply("mul", builder.number(learning_rate), gradient))
    for comparison, bound in (("lt", variable.low), ("gt", variable.high)):
        if bound is not None:
            new = limited(builder, comparison, new, builder.number(bound))
    return new


def _value(lowering: Lowering, node: Node, position: int, folded: dict[int, Any]) -> Any:
    if position in folded:
        return _constant(lowering, folded[position])
    if node.operator == "input":
        return _input(lowering, node.args[0], position)
    if node.operator == "getitem":
        return lowering.values[node.args[0].index][node.args[1]]
    rule = RULES.get(node.operator)
    try:
        if rule is None or node.operator in RANDOM:
            raise Inexpressible(f"no kernel for {node.operator}")
        value = rule(lowering, node, position)
        lowering.check(node, value, position)
        return value
    except Inexpressible:
        if lowering.foreign is None:
            raise
        return make_foreign(lowering, node, position)


def _fold(graph: Graph, setting: Setting) -> dict[int, Any]:
    """Return the values of nodes that depend on nothing but numbers in the file."""
    values: list[Any] = []
    folded: dict[int, Any] = {}
    for position, node in enumerate(graph.nodes):
        known = (
            node.operator != "input"
            and node.operator not in RANDOM
            and all(reference in folded for reference in node.references())
        )
        if not known or _has_size(node.args) or _has_size(tuple(value for _, value in node.kwargs)):
            values.append(None)
            continue
        values.append(evaluate(node, values, setting))
        folded[position] = values[-1]
    return folded


def _has_size(value: Any) -> bool:
    return isinstance(value, Symbol | Power) or (
        isinstance(value, tuple) and any(_has_size(item) for item in value)
    )


def _constant(lowering: Lowering, value: Any) -> Any:
    """Cells of a tensor known by value: the loop has no part in it."""
    if isinstance(value, tuple | list):
        return [_constant(lowering, item) for item in value]
    if value.numel() > 256:
        raise Inexpressible("a large constant tensor")
    builder = lowering.builder
    if value.dtype.is_floating_point and (value.dtype == lowering.setting.real or value.ndim == 0):
        make = builder.number
    elif str(value.dtype) in ("torch.bool", "torch.int64"):
        make = builder.boolean if str(value.dtype) == "torch.bool" else builder.integer
    else:
        raise Inexpressible(f"numbers of type {value.dtype}")
    axes = tuple((extent,) if extent != 1 else () for extent in value.shape)
    shape = tuple(extent for extent in value.shape if extent != 1)
    return Value(axes, None, objects([make(item) for item in value.flatten().tolist()], shape))


def _input(lowering: Lowering, name: str, position: int) -> Value:
    builder = lowering.builder
    if name in ("idx", "sgn"):
        kind: Kind = "variable" if name == "idx" else "real"
        cells = [
            builder.make("index" if name == "idx" else "sign", (), kind, place, "M") for place in range(3)
        ]
        return Value((("L",), (3,)), "M", objects(cells, (3,)))
    axes, loop = lowering.axes_of(position)
    variable = name.removeprefix("var:")
    value = filled(axes, loop, builder.literal(0.0))
    cells = [builder.make("state", (), "real", (variable, place), loop) for place in range(value.cells.size)]
    return Value(axes, loop, objects(cells, value.cells.shape))
