"""Count the rounds between variables and clauses that a design takes inside one call of `_grad_single`.

A step gathers the variables' values at the clauses' literals, works out forces, and sums them over the
clauses. A design that then gathers by the literals again what came of the first gathering has taken another
round inside the first, whatever lies between: sums, copies and their maximum, a permutation and its inverse.
Only a single number for the whole formula (a rate, a share) ends the way, since it holds no state; and a
choice among the literals of a clause is no gathering.
"""

from __future__ import annotations

from dataclasses import dataclass

from evolake.designs.model.graph import Graph, Node
from evolake.designs.work.classes import class_of_torch

TO_ONE_NUMBER = frozenset({"reduce", "pick"})


@dataclass(frozen=True)
class _Seen:
    """Of a node: whether a state leads to it; whether by way of a gathering; whether it says which variables
    the literals have; and the rounds behind it."""

    state: bool = False
    gathered: bool = False
    literals: bool = False
    rounds: int = 0


def substeps(graph: Graph) -> int:
    """Return the rounds inside one call, at least 1."""
    seen: list[_Seen] = []
    for node in graph.nodes:
        seen.append(_of(node, [seen[reference] for reference in node.references()]))
    return 1 + max((seen[index].rounds for _, index in graph.outputs), default=0)


def _of(node: Node, operands: list[_Seen]) -> _Seen:
    if node.operator == "input":
        return _Seen(state=str(node.args[0]).startswith("var:"), literals=node.args[0] == "idx")
    kind, name = class_of_torch(node.operator), node.operator.partition(".")[0]
    rounds = max((operand.rounds for operand in operands), default=0)
    if not operands or name.endswith("_like") or name.startswith("new_"):  # these take no more than a shape
        return _Seen(rounds=rounds)
    if kind in TO_ONE_NUMBER and not _axes(node):
        return _Seen(rounds=rounds)
    state = any(operand.state for operand in operands)
    gathered = any(operand.gathered for operand in operands)
    match kind:
        case "gather":
            source, by = operands[0], any(operand.literals for operand in operands[1:])
            return _Seen(
                state, gathered or (by and state), source.literals, rounds + (by and source.gathered)
            )
        case "scatter":
            literals = operands[0].literals or (len(operands) > 2 and operands[-1].literals)
            return _Seen(state, gathered, literals, rounds)
    return _Seen(state, gathered, any(operand.literals for operand in operands), rounds)


def _axes(node: Node) -> bool:
    """Return whether a reduction may leave more than one number, as far as its arguments say."""
    name = node.operator.partition(".")[0]
    options = [*node.args[1:], *(value for key, value in node.kwargs if key == "dim")]
    if name in ("argmax", "argmin", "kthvalue"):
        return name == "kthvalue" or any(option is not None for option in options)
    return node.operator.endswith((".dim", ".dim_int")) or any(
        isinstance(option, tuple) and option for option in options
    )
