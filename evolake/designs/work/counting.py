"""Counts what one step of a traced design computes: elements by class of operator, as multiples of N and M
and as plain numbers.

A design is counted as what its kernel computes: equal expressions once in each loop that needs them, views
not at all, the loops themselves, and the check of the clauses with it, which shares the literals that the
design gathers. So it hardly matters how a file spells what it computes. Operators that torch runs between
kernels are counted by the shapes that they take and give, with each number that is carried to torch and back;
a graph that no kernel is made for is counted operator by operator as torch runs it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evolake.designs.compiler.expression import Expression, Inexpressible
from evolake.designs.compiler.foreign import MOST_FOREIGN, Foreign
from evolake.designs.compiler.kernel_plan import computed, make_plan, reachable
from evolake.designs.compiler.lowering import Lowered, lower
from evolake.designs.model.boundary import alone
from evolake.designs.model.contract import TracedDesign, Variable
from evolake.designs.model.graph import Graph
from evolake.designs.model.graph_check import infer
from evolake.designs.model.operators import RANDOM, Setting
from evolake.designs.work.classes import class_of_expression, class_of_torch

LITERALS = 3
"""Literals of a clause."""


@dataclass(frozen=True)
class Counts:
    """What one step computes for one instance.

    by_loop: (class, loop) -> elements a turn; loop is "N", "M" or "S" (once an instance). torch: positions in
    the graph of the operators that are counted by their shapes.
    """

    by_loop: dict[tuple[str, str], float]
    torch: tuple[int, ...] = ()
    graph: Graph | None = field(default=None, repr=False)

    def at(self, n: int, m: int, variables: Mapping[str, Variable]) -> dict[str, float]:
        """Return the elements of each class at a size. variables: those of the design, by name."""
        extents = {"N": n, "M": m, "S": 1}
        result: defaultdict[str, float] = defaultdict(float)
        for (kind, loop), count in self.by_loop.items():
            result[kind] += count * extents[loop]
        if self.torch and self.graph is not None:
            for kind, elements in _torch_elements(self.graph, self.torch, n, m, variables).items():
                result[kind] += elements
        return dict(result)


def count(traced: TracedDesign) -> Counts:
    """Count one step of a design.

    Numbers of its file are put together by torch on the way, which may kill the process: strangers' designs
    are counted where they are run (`evolake.designs.engines.isolated`).
    """
    counts = alone(
        lambda: _lowered_counts(lower(traced, "float32", foreign=True), traced), lambda reason: None
    )
    return _plain_counts(traced) if counts is None else counts


def _lowered_counts(lowered: Lowered, traced: TracedDesign) -> Counts:
    """Return the counts of what kernels compute, with torch in between; where none are made for it, of what
    torch computes."""
    if len(lowered.foreign) > MOST_FOREIGN or not _planned(lowered):
        return _plain_counts(traced, lowered.foreign)
    cells = [cell for cells in lowered.moves.values() for cell in cells]
    operands = [
        cell for foreign in lowered.foreign for part in foreign.operands.values() for cell in part.cells
    ]
    counted: defaultdict[tuple[str, str], float] = defaultdict(float)
    items, loops = (
        (reachable([*cells, *operands]), []) if lowered.foreign else computed(lowered.moves, lowered.states)
    )
    known = {item.serial for item in items}
    for item in [*items, *(item for item in reachable(_check(lowered)) if item.serial not in known)]:
        for kind, loop, elements in _of_expression(item):
            counted[kind, loop] += elements
    for loop in loops:
        counted["turn", loop] += 1
    for loop, number in lowered.states.values():
        counted["state", loop] += number
    for foreign in lowered.foreign:
        counted["mixed draw" if foreign.node.operator in RANDOM else "mixed call", "S"] += 1
    _carried(counted, lowered.foreign)
    return Counts(
        dict(counted),
        tuple(foreign.position for foreign in lowered.foreign),
        traced.gradient() if lowered.foreign else None,
    )


def _carried(counted: dict[tuple[str, str], float], foreigns: tuple[Foreign, ...]) -> None:
    """Add the numbers that are put together for operators left to torch, and taken apart again. Whole ones
    are turned into reals and back, and compared with the largest that a real holds."""
    for foreign in foreigns:
        for part in (*foreign.operands.values(), *foreign.results):
            key = f"mixed {'carry' if part.kind in ('real', 'bool') else 'whole'}", part.loop or "S"
            counted[key] = counted.get(key, 0.0) + part.count


def _planned(lowered: Lowered) -> bool:
    """Return whether a kernel of this size is made at all."""
    try:
        return bool(lowered.foreign) or bool(make_plan(lowered.moves, lowered.states))
    except Inexpressible:
        return False


def _check(lowered: Lowered) -> list[Expression]:
    """Return what the check of the clauses computes of v, for every design."""
    builder = lowered.builder
    v = builder.make("state", (), "real", ("v", 0), "N")
    good = builder.boolean(False)
    for place in range(LITERALS):
        index, sign = (
            builder.make("index", (), "variable", place, "M"),
            builder.make("sign", (), "real", place, "M"),
        )
        literal = builder.apply("mul", sign, builder.gather(v, index))
        good = builder.either(good, builder.compare("gt", literal, builder.literal(0.0)))
    return [builder.reduce("min", builder.real(good), "M")]


def _of_expression(item: Expression) -> list[tuple[str, str, int]]:
    """Return (class, loop, elements per turn) of one expression. A sum over clauses takes a turn for every
    literal, a reduction those of its loop."""
    kind = class_of_expression(item.operator)
    match kind:
        case "free":
            return []
        case "scatter":
            return [(kind, "M", len(item.args) // 2)]
        case "reduce":
            return [(kind, item.data[1], 1)]
    return [(kind, item.domain, 1)]


def _plain_counts(traced: TracedDesign, foreigns: tuple[Foreign, ...] = ()) -> Counts:
    """Count every operator by its shapes, for a graph that is run node by node; and the states and the check
    of the clauses. foreigns: those for which numbers are put together first."""
    graph = traced.gradient()
    counted: dict[tuple[str, str], float] = {
        ("torch gather", "M"): LITERALS,
        ("torch simple", "M"): 2 * LITERALS,
        ("torch reduce", "M"): 1,
        ("torch node", "S"): len(graph.nodes),
    }
    for variable in traced.variables:
        loop = "M" if "M" in variable.shape else "N"
        counted["state", loop] = counted.get(("state", loop), 0.0) + math.prod(
            extent for extent in variable.shape[1:] if isinstance(extent, int)
        )
    _carried(counted, foreigns)
    return Counts(counted, tuple(range(len(graph.nodes))), graph)


def _torch_elements(
    graph: Graph, positions: tuple[int, ...], n: int, m: int, variables: Mapping[str, Variable]
) -> dict[str, float]:
    """Return the elements of the operators at `positions`: the larger of what each takes and gives, with the
    turns of a sort or a product."""
    import torch

    values = infer(graph, dict(variables), Setting(torch.float32, 1, n, m, "meta"))
    result: defaultdict[str, float] = defaultdict(float)
    for position in positions:
        node = graph.nodes[position]
        kind = class_of_torch(node.operator)
        if kind == "free":
            continue
        given = _tensors(values[position])
        taken = [tensor for reference in node.references() for tensor in _tensors(values[reference])]
        elements = max((_words(tensor) for tensor in (*given, *taken)), default=0)
        match kind:
            case "sort":
                longest = max((max(tensor.shape, default=1) for tensor in taken), default=1)
                result[f"torch {kind}"] += elements * max(1.0, math.log2(max(2, longest)))
            case "product":
                result[f"torch {kind}"] += _multiplications(node.operator, taken, given)
            case "gather" | "move" | "draw":
                result[f"torch {kind}"] += sum(tensor.numel() for tensor in given)
            case _:
                result[f"torch {kind}"] += elements
    return result


def _words(tensor: Any) -> int:
    """Return how many numbers a tensor has. One of double precision takes torch five to eight times as long
    as one of single (measured as the prices are) and counts as five."""
    return tensor.numel() * (5 if tensor.is_floating_point() and tensor.element_size() > 4 else 1)


def _multiplications(operator: str, taken: list[Any], given: list[Any]) -> float:
    """Return the multiplications of a product of matrices: the numbers that it gives, times the axis that is
    summed over."""
    outputs = sum(tensor.numel() for tensor in given)
    if operator.startswith("outer"):
        return outputs
    left = taken[1] if operator.startswith("addmm") and len(taken) > 2 else taken[0]
    return outputs * (left.shape[-1] if left.ndim else 1)


def _tensors(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
