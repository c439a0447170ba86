"""What the lowering rules work on."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from evolake.designs.compiler.cells import LOOP, Axis, Value, broadcast, objects, scalar
from evolake.designs.compiler.expression import Builder, Domain, Expression, Inexpressible
from evolake.designs.model.graph import Node, Power, Reference, Symbol
from evolake.designs.model.operators import Setting


@dataclass
class Lowering:
    """The state of one lowering: `values` of the nodes so far, `shapes` (meta tensors) of all of them,
    `extents` of the two loops. `foreign` collects the operators that have no rule
    (evolake.designs.compiler.foreign); None where they are refused.
    """

    builder: Builder
    extents: dict[str, int]
    setting: Setting
    shapes: list[Any]
    values: list[Any] = field(default_factory=list)
    foreign: list[Any] | None = None

    def check(self, node: Node, value: Any, position: int) -> None:
        """Compare what a rule made of a node with what torch makes of it: the same shape, and an element type
        that a kernel computes in.

        Raises:
            Inexpressible: another type (float64 in a float32 design, int32, bits), or another shape.
        """
        shapes = self.shapes[position]
        made, wanted = (value, shapes) if isinstance(shapes, tuple | list) else ([value], [shapes])
        if not isinstance(made, list) or len(made) != len(wanted):
            raise Inexpressible(f"several results of {node.operator}")
        for item, tensor in zip(made, wanted, strict=True):
            if self.extents_of(item) != tuple(tensor.shape):
                raise Inexpressible(f"the shape of {node.operator}")
            if item.kind not in self.kinds_of(tensor.dtype):
                raise Inexpressible(f"numbers of type {tensor.dtype} of {node.operator}")

    def extents_of(self, value: Value) -> tuple[int, ...]:
        """Return the plain shape of a value."""
        loop = self.extents[value.loop] if value.loop else 1
        return tuple(math.prod(loop if atom == LOOP else atom for atom in part) for part in value.axes)

    def kinds_of(self, dtype: Any) -> tuple[str, ...]:
        """Return the kinds of expressions that compute as torch does in an element type; none for a type that
        kernels do not have."""
        if dtype == self.setting.real:
            return ("real",)
        return {"torch.bool": ("bool",), "torch.int64": ("int", "variable")}.get(str(dtype), ())

    def operand(self, argument: Any) -> Value:
        """Return a tensor or number of the graph as a value."""
        if isinstance(argument, Reference):
            value = self.values[argument.index]
            if not isinstance(value, Value):
                raise Inexpressible("several results used as one")
            return value
        return scalar(self.number(argument))

    def number(self, argument: Any) -> Expression:
        """Return an argument of a node as an expression."""
        if isinstance(argument, bool):
            return self.builder.boolean(argument)
        if isinstance(argument, int):
            return self.builder.integer(argument)
        if isinstance(argument, float | Symbol | Power):
            return self.builder.number(argument)
        raise Inexpressible("an operand that is not a number")

    def each(self, make: Callable[..., Expression], *values: Value) -> Value:
        """Return `make` on the cells of broadcast operands."""
        axes, loop, cells = broadcast(values)
        result = [make(*items) for items in zip(*(array.flat for array in cells), strict=True)]
        return Value(axes, loop, objects(result, cells[0].shape))

    def concrete(self, argument: Any) -> Any:
        """Return an argument that is no tensor, sizes put in."""
        return self.setting.argument(argument, [])

    def parameter(self, node: Node, position: int, name: str, default: Any) -> Any:
        """Return a non-tensor argument by place or by name."""
        if len(node.args) > position:
            return self.concrete(node.args[position])
        return self.concrete(dict(node.kwargs).get(name, default))

    def loop_of(self, extent: int) -> Domain | None:
        """Return the loop that has this extent, or None."""
        if extent == self.extents["N"]:
            return "N"
        if extent == self.extents["M"]:
            return "M"
        return None

    def axes_for(self, shape: Any) -> tuple[tuple[Axis, ...], Domain | None]:
        """Return axes of a fresh tensor of the given plain shape."""
        axes: list[Axis] = []
        loop: Domain | None = None
        for extent in shape:
            part, over = self._axis(extent)
            if over and loop:
                raise Inexpressible("a product of all variables with all clauses")
            loop = loop or over
            axes.append(part)
        return tuple(axes), loop

    def _axis(self, extent: int) -> tuple[Axis, Domain | None]:
        if over := self.loop_of(extent):
            return (LOOP,), over
        if 1 <= extent <= 64:
            return ((extent,) if extent > 1 else ()), None
        for name in ("N", "M"):
            times, rest = divmod(extent, self.extents[name])
            if rest == 0 and 1 < times <= 64:
                return (LOOP, times), "N" if name == "N" else "M"
        raise Inexpressible(f"an axis of {extent}")

    def axes_of(self, position: int) -> tuple[tuple[Axis, ...], Domain | None]:
        """Return axes of node `position`, from its inferred shape."""
        return self.axes_for(tuple(self.shapes[position].shape))
