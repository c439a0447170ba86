"""Count the steps of its flow that a design takes inside one call of `_grad_single`.

A step gathers the variables' values at the clauses' literals, works out forces, and sums them over the
clauses. A design that then moves its own variables by that sum and gathers the moved ones again has taken
another step inside the first. It is seen in the graph: what is gathered by the literals is a state plus
something that was summed over clauses, operation by operation, with no reduction in between. A force that is
gathered itself, or a rate that was reduced to one number, is no such step.
"""

from __future__ import annotations

from dataclasses import dataclass

from evolake.designs.model.graph import Graph, Node
from evolake.designs.work.classes import class_of_torch

BARRIERS = frozenset({"gather", "scatter", "reduce", "sort", "scan", "product"})
"""What ends an operation-by-operation path."""


@dataclass(frozen=True)
class _Seen:
    """Of a node: whether a state, a sum over clauses, the literals' variables lead to it operation by
    operation; and the steps behind it."""

    state: bool = False
    summed: bool = False
    literals: bool = False
    steps: int = 0


def substeps(graph: Graph) -> int:
    """Return the steps of the flow inside one call, at least 1."""
    seen: list[_Seen] = []
    for node in graph.nodes:
        seen.append(_of(node, [seen[reference] for reference in node.references()]))
    return 1 + max((seen[index].steps for _, index in graph.outputs), default=0)


def _of(node: Node, operands: list[_Seen]) -> _Seen:
    if node.operator == "input":
        return _Seen(state=str(node.args[0]).startswith("var:"), literals=node.args[0] == "idx")
    kind, name = class_of_torch(node.operator), node.operator.partition(".")[0]
    steps = max((operand.steps for operand in operands), default=0)
    if kind == "gather" and operands:
        moved = operands[0].state and operands[0].summed and any(operand.literals for operand in operands[1:])
        return _Seen(steps=steps + moved)
    if kind == "scatter":
        return _Seen(
            state=operands[0].state if operands else False,
            summed=any(operand.literals for operand in operands[1:]),
            steps=steps,
        )
    if (
        kind in BARRIERS or name.endswith("_like") or name.startswith("new_")
    ):  # these take no more than a shape
        return _Seen(steps=steps)
    return _Seen(
        any(operand.state for operand in operands),
        any(operand.summed for operand in operands),
        any(operand.literals for operand in operands),
        steps,
    )
