"""One spelling for what is the same to the last bit: other names of a tensor, what is undone, the largest of
copies.

Identity, price and the count of rounds are all of the simplified graph, so that none depends on such a
detour. Nothing here rounds otherwise than the file did, so engines compute the same bits.
"""

from __future__ import annotations

from evolake.designs.model.graph import RANDOM_OPERATORS, Graph, Node, Reference, substitute

SAME = frozenset(
    f"{name}.default" for name in ("clone", "detach", "alias", "contiguous", "positive", "lift_fresh")
)
UNDONE = frozenset({"neg.default", "flip.default", "t.default"})
"""Done twice with the same arguments, these leave what was there."""
ONCE = frozenset(
    f"{name}.default"
    for name in ("abs", "relu", "floor", "ceil", "round", "trunc", "sign", "sgn", "hardtanh", "relu6")
)
"""A second time in a row these change nothing."""
OF_EQUALS = frozenset(
    {"maximum.default", "minimum.default", "fmax.default", "fmin.default", "max.other", "min.other"}
)
OVER_COPIES = frozenset({"amax.default", "amin.default"})
WITH_PLACE = frozenset({"max.dim", "min.dim"})
BY_ONE = frozenset(
    {"mul.Tensor", "mul.Scalar", "div.Tensor", "div.Scalar", "pow.Tensor_Scalar", "pow.Tensor_Tensor"}
)
_REAL = frozenset(
    f"{name}.{overload}"
    for overload, names in {
        "default": "neg abs exp log log1p expm1 sqrt square sigmoid tanh relu floor trunc clamp clamp_min "
        "clamp_max maximum minimum amax amin sum mean index_select unsqueeze view expand index_add "
        "scatter_add zeros_like topk sort",
        "Tensor": "add sub rsub mul div index slice clamp",
        "Scalar": "add sub rsub mul div",
        "Tensor_Scalar": "pow",
        "dim": "mean max min squeeze",
        "dim_IntList": "sum",
        "int": "select",
    }.items()
    for name in names.split()
)
"""Give reals of the run's type if their first operand is of them, and no option names a type."""


def simplified(graph: Graph) -> Graph:
    """Return the graph with detours left out and equal nodes merged (random ones never)."""
    made = _Rewriting()
    place: dict[int, int] = {}
    for position, node in enumerate(graph.nodes):
        place[position] = made.rewritten(
            Node(
                node.operator,
                substitute(node.args, place),
                tuple((key, substitute(value, place)) for key, value in node.kwargs),
            )
        )
    return Graph(tuple(made.nodes), tuple((name, place[index]) for name, index in graph.outputs))


class _Rewriting:
    """The nodes so far, and which are certainly reals. Nothing is believed of an argument: the graph may be
    a stranger's."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._known: dict[str, int] = {}
        self._real: list[bool] = []

    def rewritten(self, node: Node) -> int:
        """Return the number of what a node comes to."""
        first = node.args[0].index if node.args and isinstance(node.args[0], Reference) else None
        if first is None or node.kwargs:
            return self._add(node)
        if node.operator == "frac.default" and len(node.args) == 1:
            whole = Reference(self.rewritten(Node("trunc.default", node.args)))
            return self._add(Node("sub.Tensor", (node.args[0], whole)))
        simpler = self._simpler(node, first, self.nodes[first])
        return self._add(node) if simpler is None else simpler

    def _simpler(self, node: Node, first: int, operand: Node) -> int | None:
        name, rest = node.operator, node.args[1:]
        again = (operand.operator, operand.args[1:], operand.kwargs) == (name, rest, ())
        if (
            (name in SAME and not rest)
            or (name in OF_EQUALS and rest == node.args[:1])
            or (name in ONCE and again)
            or (name in BY_ONE and rest == (1,) and self._real[first])
        ):
            return first
        if name in UNDONE and again and isinstance(operand.args[0], Reference):
            return operand.args[0].index
        if name == "getitem" and rest == (0,) and operand.operator in WITH_PLACE:
            return self._copied(operand)
        return self._copied(node) if name in OVER_COPIES else None

    def _copied(self, node: Node) -> int | None:
        """Return what was stacked, if a largest or smallest is over copies of one thing."""
        if node.kwargs or len(node.args) != 2 or not isinstance(node.args[0], Reference):
            return None
        stack = self.nodes[node.args[0].index]
        items, along = (*stack.args, 0, 0)[:2]
        if stack.operator != "stack.default" or stack.kwargs or node.args[1] not in (along, (along,)):
            return None
        one = set(items) if isinstance(items, tuple) else set()
        return one.pop().index if len(one) == 1 and stack.references() else None

    def _add(self, node: Node) -> int:
        key = repr(node)
        if key in self._known and node.operator not in RANDOM_OPERATORS:
            return self._known[key]
        first = node.references()[:1]
        passes = node.operator in _REAL and "dtype" not in dict(node.kwargs)
        passes = passes or (node.operator == "getitem" and node.args[1:] == (0,))
        self._real.append(
            (node.operator == "input" and node.args != ("idx",))
            or (passes and bool(first) and self._real[first[0]])
        )
        self._known[key] = len(self.nodes)
        self.nodes.append(node)
        return len(self.nodes) - 1
