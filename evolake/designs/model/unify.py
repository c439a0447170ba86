"""One graph for every size, from traces at a few sizes.

A trace writes the sizes it saw as plain numbers. The same design traced at four unlike sizes gives four lists
of nodes; where they differ only in numbers, each such number is solved for: an integer as a linear form in B,
N, M, a float as a power law in N and M. The fourth size is the proof: a number that fits no form (or a graph
whose nodes differ) raises NotUniform, and the design can then only be traced at one size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from evolake.designs.model.graph import Constant, Graph, Node, Power, Symbol

POINTS = ((5, 11, 47), (7, 101, 433), (6, 997, 4271), (11, 23, 89))
"""(B, N, M) of the traces: far apart, so that a branch on the size shows itself."""

_LARGEST_FACTOR = 1000
_LARGEST_POWER = 4


class NotUniform(Exception):
    """The traces differ in more than numbers that a form in N and M expresses."""


def unify(graphs: Sequence[Graph], points: Sequence[tuple[int, int, int]], *, batched: bool) -> Graph:
    """Return the common graph of traces at `points`. `batched`: whether B may appear (initial values) or not
    (gradients). Points may share N and M; then the graph holds for these, and only B stays symbolic.
    """
    first = graphs[0]
    if len(graphs) == 1:
        return first
    if any(len(graph.nodes) != len(first.nodes) or graph.outputs != first.outputs for graph in graphs):
        raise NotUniform("the number of operators depends on the size")
    nodes = []
    for position, node in enumerate(first.nodes):
        twins = [graph.nodes[position] for graph in graphs]
        keys = tuple(key for key, _ in node.kwargs)
        if any(
            twin.operator != node.operator or tuple(key for key, _ in twin.kwargs) != keys for twin in twins
        ):
            raise NotUniform("the operators depend on the size")
        args = _merge([twin.args for twin in twins], points, batched, node.operator)
        kwargs = tuple(
            (key, _merge([dict(twin.kwargs)[key] for twin in twins], points, batched, node.operator))
            for key in keys
        )
        nodes.append(Node(node.operator, args, kwargs))
    return Graph(tuple(nodes), first.outputs)


def _merge(values: list[Any], points: Sequence[tuple[int, int, int]], batched: bool, operator: str) -> Any:
    first = values[0]
    if all(type(value) is type(first) and (value == first or value != value) for value in values):
        return first
    if all(isinstance(value, tuple) for value in values) and len({len(value) for value in values}) == 1:
        return tuple(
            _merge([value[position] for value in values], points, batched, operator)
            for position in range(len(first))
        )
    if all(type(value) is int for value in values):
        return _linear(values, points, batched, operator)
    if all(type(value) in (int, float) for value in values):
        return _power(values, points, operator)
    if any(isinstance(value, Constant) for value in values):
        raise NotUniform("a constant tensor depends on the size")
    raise NotUniform(f"an argument of {operator} depends on the size")


def _linear(
    values: list[int], points: Sequence[tuple[int, int, int]], batched: bool, operator: str
) -> Symbol:
    one_size = len({point[1:] for point in points}) == 1
    if one_size:
        columns = (2, 3)
    elif batched:
        columns = (0, 1, 2, 3)
    else:
        columns = (0, 1, 2)
    rows = [[Fraction((n, m, 1, batch)[column]) for column in columns] for batch, n, m in points]
    solution = _solve(rows[: len(columns)], [Fraction(value) for value in values[: len(columns)]])
    if any(item.denominator != 1 or abs(item) > _LARGEST_FACTOR for item in solution if not one_size):
        raise NotUniform(f"an integer of {operator} is not linear in N and M")
    factors: dict[int, Fraction] = dict(zip(columns, solution, strict=True))
    n_factor, m_factor, offset, batch_factor = (int(factors.get(column, Fraction(0))) for column in range(4))
    symbol = Symbol(batch_factor, n_factor, m_factor, offset)
    if any(symbol.at(*point) != value for point, value in zip(points, values, strict=True)):
        raise NotUniform(f"an integer of {operator} is not linear in N and M")
    return symbol


def _power(values: list[float], points: Sequence[tuple[int, int, int]], operator: str) -> Power:
    if len(values) < 3 or any(not math.isfinite(value) or value * values[0] <= 0 for value in values):
        raise NotUniform(f"a number of {operator} is no power law in N and M")
    logs = [math.log(abs(value)) for value in values]
    rows = [[math.log(n), math.log(m), 1.0] for _, n, m in points]
    exponents = _solve([row[:] for row in rows[:3]], logs[:3])
    n_power, m_power = (round(2 * float(item)) / 2 for item in exponents[:2])
    if max(abs(n_power), abs(m_power)) > _LARGEST_POWER:
        raise NotUniform(f"a number of {operator} is no power law in N and M")
    power = Power(values[0] / (points[0][1] ** n_power * points[0][2] ** m_power), n_power, m_power)
    if any(
        abs(power.at(n, m) - value) > 1e-12 * abs(value)
        for (_, n, m), value in zip(points, values, strict=True)
    ):
        raise NotUniform(f"a number of {operator} is no power law in N and M")
    return power


def _solve(rows: list[list[Any]], right: list[Any]) -> list[Any]:
    """Gaussian elimination with pivoting; exact on Fractions."""
    size = len(rows)
    table = [[*row, value] for row, value in zip(rows, right, strict=True)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(table[row][column]))
        table[column], table[pivot] = table[pivot], table[column]
        for row in range(size):
            if row != column:
                factor = table[row][column] / table[column][column]
                table[row] = [a - factor * b for a, b in zip(table[row], table[column], strict=True)]
    return [table[row][size] / table[row][row] for row in range(size)]
