"""The graph of a design: a few dozen tensor operators on one instance, as data.

A design arrives as Python source, is traced inside the jail, and from then on *is* this graph. Values in a
node's arguments are plain numbers, strings, booleans, None, lists, or one of the five tagged kinds below;
sizes of the instance stay symbolic, so that one graph serves every N. The JSON form is canonical: nodes in
depth-first order from the outputs sorted by name, equal nodes merged, nodes that nothing uses dropped. Two
files that compute the same thing in a different order of statements therefore have the same hash.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import Any

from evolake.canonical_json import key_of

RANDOM_OPERATORS = frozenset(
    {
        "rand.default",
        "randn.default",
        "rand_like.default",
        "randn_like.default",
        "uniform.default",
        "normal_functional.default",
        "randint.default",
        "randint.low",
        "bernoulli.p",
        "bernoulli.default",
    }
)
COMMUTATIVE_OPERATORS = frozenset(
    {
        "add.Tensor",
        "mul.Tensor",
        "maximum.default",
        "minimum.default",
        "logical_and.default",
        "logical_or.default",
    }
)


@dataclass(frozen=True)
class Reference:
    """The value of another node."""

    index: int


@dataclass(frozen=True)
class Symbol:
    """An integer that is linear in the sizes: batch*B + variables*N + clauses*M + offset."""

    batch: int
    variables: int
    clauses: int
    offset: int

    def at(self, batch: int, n: int, m: int) -> int:
        """Return the extent for a batch, n variables and m clauses."""
        return self.batch * batch + self.variables * n + self.clauses * m + self.offset


@dataclass(frozen=True)
class Power:
    """A float that is a power law in the sizes: factor * N^variables * M^clauses, exponents in halves."""

    factor: float
    variables: float
    clauses: float

    def at(self, n: int, m: int) -> float:
        """Return the value for n variables and m clauses."""
        return self.factor * n**self.variables * m**self.clauses


@dataclass(frozen=True)
class Dtype:
    """An element type; `real` is the type the design is traced and run in."""

    name: str


@dataclass(frozen=True)
class Constant:
    """A small tensor written in the source. `data` is flat, in row-major order."""

    dtype: str
    shape: tuple[int, ...]
    data: tuple[float | int | bool, ...]


@dataclass(frozen=True)
class Node:
    """`operator` is an aten name with its overload, or one of `input`, `constant`, `getitem`. `args` is a
    tuple."""

    operator: str
    args: Any
    kwargs: tuple[tuple[str, Any], ...] = ()

    def references(self) -> list[int]:
        """Return the numbers of the nodes that this node reads."""
        result: list[int] = []
        _collect(self.args, result)
        _collect(tuple(value for _, value in self.kwargs), result)
        return result


@dataclass(frozen=True)
class Graph:
    """`nodes` in an order in which every reference points back; `outputs` maps a name to a node's index."""

    nodes: tuple[Node, ...]
    outputs: tuple[tuple[str, int], ...]

    def to_json(self) -> dict[str, Any]:
        """Return the graph as JSON values, the form that `from_json` reads."""
        nodes = [
            [
                node.operator,
                [encode(arg) for arg in node.args],
                {key: encode(value) for key, value in node.kwargs},
            ]
            for node in self.nodes
        ]
        return {"nodes": nodes, "outputs": dict(self.outputs)}

    @classmethod
    def from_json(cls, data: Any) -> Graph:
        """Raise ValueError on anything that is not the JSON form, forward references included."""
        if (
            not isinstance(data, dict)
            or set(data) != {"nodes", "outputs"}
            or not isinstance(data["nodes"], list)
        ):
            raise ValueError("a graph is an object with nodes and outputs")
        nodes: list[Node] = []
        for position, entry in enumerate(data["nodes"]):
            if not isinstance(entry, list) or len(entry) != 3 or not isinstance(entry[0], str):
                raise ValueError(f"node {position} is not [operator, arguments, keywords]")
            operator, args, kwargs = entry
            if not isinstance(args, list) or not isinstance(kwargs, dict):
                raise ValueError(f"node {position} has no argument list")
            node = Node(
                operator,
                tuple(decode(arg) for arg in args),
                tuple(sorted((str(key), decode(value)) for key, value in kwargs.items())),
            )
            if any(not 0 <= reference < position for reference in node.references()):
                raise ValueError(f"node {position} refers forward")
            nodes.append(node)
        if not isinstance(data["outputs"], dict):
            raise ValueError("outputs are not an object")
        outputs = []
        for name, index in data["outputs"].items():
            if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < len(nodes):
                raise ValueError(f"output {name!r} refers to no node")
            outputs.append((str(name), index))
        return cls(tuple(nodes), tuple(sorted(outputs)))


def encode(value: Any) -> Any:
    """Return JSON form of one argument."""
    match value:
        case Reference(index):
            return {"ref": index}
        case Symbol(batch, variables, clauses, offset):
            return {"size": [batch, variables, clauses, offset]}
        case Power(factor, variables, clauses):
            return {"power": [factor, variables, clauses]}
        case Dtype(name):
            return {"dtype": name}
        case Constant(dtype, shape, data):
            return {
                "constant": {"dtype": dtype, "shape": list(shape), "data": [encode(item) for item in data]}
            }
        case tuple() | list():
            return [encode(item) for item in value]
        case float() if not math.isfinite(value):
            return {"float": str(value)}
        case None | bool() | int() | float() | str():
            return value
    raise ValueError(f"{type(value).__name__} cannot stand in a graph")


def decode(value: Any) -> Any:
    """Return the argument of a JSON form. Raises ValueError on anything else."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return tuple(decode(item) for item in value)
    if isinstance(value, dict) and len(value) == 1:
        (tag, body), *_ = value.items()
        if tag == "ref" and _is_int(body):
            return Reference(body)
        if (
            tag == "size"
            and isinstance(body, list)
            and len(body) == 4
            and all(_is_int(item) and abs(item) < 10**9 for item in body)
        ):
            return Symbol(*body)
        if (
            tag == "power"
            and isinstance(body, list)
            and len(body) == 3
            and all(_is_small(item) for item in body)
        ):
            return Power(*(float(item) for item in body))
        if tag == "dtype" and isinstance(body, str):
            return Dtype(body)
        if tag == "float" and body in ("inf", "-inf", "nan"):
            return float(body)
        if tag == "constant" and isinstance(body, dict) and set(body) == {"dtype", "shape", "data"}:
            return _decode_constant(body)
    raise ValueError(f"no argument of a graph: {str(value)[:80]}")


def _decode_constant(body: dict[str, Any]) -> Constant:
    shape, data = body["shape"], body["data"]
    if (
        not isinstance(shape, list)
        or not isinstance(data, list)
        or not all(_is_int(item) and item >= 0 for item in shape)
    ):
        raise ValueError("a constant needs a shape and data")
    numbers = tuple(decode(item) for item in data)
    if len(numbers) != math.prod(shape) or not all(isinstance(item, bool | int | float) for item in numbers):
        raise ValueError("a constant's data does not fit its shape")
    return Constant(str(body["dtype"]), tuple(shape), numbers)


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_small(value: Any) -> bool:
    """Return whether a number can be part of a power law: finite, and no larger than a float."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 1e300


def _collect(value: Any, into: list[int]) -> None:
    if isinstance(value, Reference):
        into.append(value.index)
    elif isinstance(value, tuple):
        for item in value:
            _collect(item, into)


def substitute(value: Any, mapping: dict[int, int]) -> Any:
    """Return `value` with the node indices renamed."""
    if isinstance(value, Reference):
        return Reference(mapping[value.index])
    if isinstance(value, tuple):
        return tuple(substitute(item, mapping) for item in value)
    return value


def canonical(graph: Graph, *, reorder: bool = True) -> Graph:
    """Return the same function, in one of its many spellings: dead nodes dropped, equal nodes merged (random
    ones never), the operands of a sum or product in one order (not with `reorder=False`), and a numbering
    that ignores the order of statements.
    """
    nodes = _ordered_operands(graph.nodes) if reorder else list(graph.nodes)
    numbering: dict[int, int] = {}
    known: dict[str, int] = {}
    kept: list[Node] = []
    for _, output in graph.outputs:
        stack = [output]
        while stack:
            index = stack[-1]
            if index in numbering:
                stack.pop()
                continue
            waiting = [reference for reference in nodes[index].references() if reference not in numbering]
            if waiting:
                stack.extend(reversed(waiting))
                continue
            stack.pop()
            node = nodes[index]
            renamed = Node(
                node.operator,
                substitute(node.args, numbering),
                tuple((key, substitute(value, numbering)) for key, value in node.kwargs),
            )
            key = repr(renamed) if renamed.operator not in RANDOM_OPERATORS else f"random {index}"
            if key not in known:
                known[key] = len(kept)
                kept.append(renamed)
            numbering[index] = known[key]
    return Graph(tuple(kept), tuple((name, numbering[index]) for name, index in graph.outputs))


def last_uses(graph: Graph) -> list[list[int]]:
    """For each node, the nodes whose value no later node needs: an interpreter that lets go of them holds
    what `graph_check` counts as alive."""
    kept = {index for _, index in graph.outputs}
    last = {
        reference: position
        for position, node in enumerate(graph.nodes)
        for reference in node.references()
        if reference not in kept
    }
    spent: list[list[int]] = [[] for _ in graph.nodes]
    for reference, position in last.items():
        spent[position].append(reference)
    return spent


def _ordered_operands(nodes: tuple[Node, ...]) -> list[Node]:
    """Commutative operators with their two operands sorted by what they compute: first by a hash of the tree
    below without its numbers (so that a changed parameter does not change the order), then by one with them.
    """
    digests: list[tuple[str, str]] = []
    result = []
    for position, node in enumerate(nodes):
        two = len(node.args) == 2 and not node.kwargs and all(isinstance(arg, Reference) for arg in node.args)
        if two and node.operator in COMMUTATIVE_OPERATORS:
            node = Node(node.operator, tuple(sorted(node.args, key=lambda arg: digests[arg.index])))
        result.append(node)
        own = str(position) if node.operator in RANDOM_OPERATORS else ""
        texts = [
            repr((node.operator, own, _described((node.args, node.kwargs), digests, numbers)))
            for numbers in (False, True)
        ]
        digests.append(
            (hashlib.sha256(texts[0].encode()).hexdigest(), hashlib.sha256(texts[1].encode()).hexdigest())
        )
    return result


def _described(value: Any, digests: list[tuple[str, str]], numbers: bool) -> Any:
    if isinstance(value, Reference):
        return digests[value.index][numbers]
    if isinstance(value, tuple):
        return tuple(_described(item, digests, numbers) for item in value)
    if isinstance(value, float) and not numbers:
        return "number"
    if isinstance(value, Constant) and not numbers:
        return (value.dtype, value.shape)
    return value


def sha_of(data: Any) -> str:
    """Return sha256 of the canonical JSON text of `data`."""
    return key_of(data, ascii_only=True, allow_nan=False)
