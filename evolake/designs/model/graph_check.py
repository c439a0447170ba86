"""The host's own look at a graph that came out of the jail.

The reply is hearsay: a design may have forged it. Nothing is believed but what is checked here: the JSON
form, every operator against the list, the inputs, and shapes and types by running the graph on meta tensors
(no data, no memory) at two sizes. A graph that passes is harmless and honest by construction: it is what will
be run, whatever the file said.

Two sizes show whether a graph is one; a size that is small at both may be vast, or negative, in between. So
`check_at` is asked again for every size of a schedule before a design is accepted (judging), and for the size
of a run before anything is allocated (engine).

What is the same to the last bit gets one spelling first (other names of a tensor, what is undone, the largest
of copies): identity, price and the count of rounds are all of the simplified graph, so that none depends on
such a detour. Nothing is rounded otherwise than the file did, so engines compute the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from evolake.designs.model.boundary import is_machinery, reason_of
from evolake.designs.model.contract import MAX_CONSTANT_NUMBERS, MAX_NODES, Blocked, Variable
from evolake.designs.model.graph import (
    RANDOM_OPERATORS,
    Constant,
    Dtype,
    Graph,
    Node,
    Reference,
    canonical,
    substitute,
)
from evolake.designs.model.operators import ALLOWED, DTYPES, PSEUDO, Setting, evaluate

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


SIZES = ((3, 11, 47), (2, 1280, 5504))
MAX_NUMBERS = 400_000
"""Numbers a single node may hold for one instance at N=1280 or below (72 a clause); in proportion above."""
MAX_LIVE_NUMBERS = 4_000_000
"""Numbers that may be alive at the same time for one instance at N=1280 or below; in proportion above."""
PLACEMENT = frozenset(
    {
        "device",
        "layout",
        "pin_memory",
        "memory_format",
        "non_blocking",
        "generator",
        "out",
        "names",
        "requires_grad",
    }
)
"""Options that a trace never holds: with them a graph could leave the meta device, and allocate while it is
only looked at."""
MAX_RESULTS = 4_096
"""Tensors that a single node may give (of an unbind or a split)."""


def check_all(
    graph: Graph, outputs: dict[str, Variable], sizes: Sequence[tuple[int, int, int]], batched: bool
) -> Blocked | None:
    """Return the first thing wrong at a size (batch, N, M), or None. See `check_at`."""
    return next(
        (
            problem
            for size in sizes
            if (problem := check_at(graph, outputs, *size, batched=batched)) is not None
        ),
        None,
    )


Fits = Callable[[Graph, dict[str, Variable], Sequence[tuple[int, int, int]], bool], Blocked | None]
"""`check_all` in this process, or the same in one that has loaded torch
(`evolake.designs.engines.isolated.fits_apart`)."""


def check_gradient(
    data: Any, variables: Sequence[Variable], size: tuple[int, int] | None = None, fits: Fits = check_all
) -> Graph | Blocked:
    """Return the checked graph of `_grad_single`, canonical again by the host's own hand."""
    expected = {variable.name: variable for variable in variables}
    return _check(
        data, {f"var:{name}" for name in expected} | {"idx", "sgn"}, expected, size, fits, batched=False
    )


def check_initial(
    data: Any, variable: Variable, size: tuple[int, int] | None = None, fits: Fits = check_all
) -> Graph | Blocked:
    """Return the checked graph of one variable's initialiser, which has no inputs and returns the whole
    batch."""
    return _check(data, set(), {variable.name: variable}, size, fits, batched=True)


def _check(
    data: Any,
    inputs: set[str],
    outputs: dict[str, Variable],
    size: tuple[int, int] | None,
    fits: Fits,
    *,
    batched: bool,
) -> Graph | Blocked:
    try:
        graph = canonical(simplified(Graph.from_json(data)))
    except (ValueError, RecursionError) as error:
        return Blocked(f"not a graph: {error}", "graph")
    if len(graph.nodes) > MAX_NODES:
        return Blocked(f"{len(graph.nodes)} operators, at most {MAX_NODES} are allowed", "operators")
    for node in graph.nodes:
        problem = _node_problem(node, inputs)
        if problem:
            return problem
    if {name for name, _ in graph.outputs} != set(outputs):
        return Blocked("the outputs are not the variables", "contract")
    sizes = SIZES if size is None else ((SIZES[0][0], *size),)
    return fits(graph, outputs, sizes, batched) or graph


def _node_problem(node: Node, inputs: set[str]) -> Blocked | None:
    if node.operator not in ALLOWED | PSEUDO:
        return Blocked(f"operator aten::{node.operator[:80]} is not on the list", "operators")
    if node.operator == "input" and (len(node.args) != 1 or node.args[0] not in inputs):
        return Blocked(f"an input {str(node.args)[:80]} that no design has", "graph")
    if node.operator == "constant":
        constant = node.args[0] if len(node.args) == 1 else None
        if (
            not isinstance(constant, Constant)
            or len(constant.data) > MAX_CONSTANT_NUMBERS
            or constant.dtype not in DTYPES
        ):
            return Blocked("a constant that is not one, or too large", "graph")
    if node.operator == "getitem" and (
        len(node.args) != 2
        or not isinstance(node.args[0], Reference)
        or type(node.args[1]) is not int
        or node.args[1] < 0
        or node.kwargs
    ):
        return Blocked("a getitem without an index", "graph")
    if stray := sorted(PLACEMENT & {key for key, _ in node.kwargs}):
        return Blocked(
            f"{node.operator} says where its result lies ({', '.join(stray)}); that is the host's business",
            "operators",
        )
    if any(name not in DTYPES for name in _dtypes((node.args, tuple(value for _, value in node.kwargs)))):
        return Blocked("an element type that is not on the list", "operators")
    return None


def _dtypes(value: Any) -> list[str]:
    if isinstance(value, Dtype):
        return [value.name]
    if isinstance(value, tuple):
        return [name for item in value for name in _dtypes(item)]
    return []


def input_example(name: str, variables: dict[str, Variable], setting: Setting) -> Any:
    """Return an empty tensor of an input's shape for one instance, on the setting's device."""
    import torch

    if name == "idx":
        return torch.empty((setting.m, 3), dtype=torch.int64, device=setting.device)
    if name == "sgn":
        return torch.empty((setting.m, 3), dtype=setting.real, device=setting.device)
    shape = variables[name.removeprefix("var:")].dimensions(setting.batch, setting.n, setting.m)[1:]
    return torch.empty(shape, dtype=setting.real, device=setting.device)


VALUE_FREE = frozenset(
    [
        *(f"{name}.Tensor" for name in ("add", "sub", "mul", "div")),
        *(f"{name}.Scalar" for name in ("rsub", "pow", "gt", "eq")),
        *("pow.Tensor_Scalar", "clamp.default", "scatter.value", "scalar_tensor.default"),
    ]
)
"""Operators whose result has the shape and type that it has, whatever a float among their arguments is."""
MOST_KNOWN = 20_000
_KNOWN: dict[Any, tuple[Any, Any]] = {}


class _Shapes:
    """The meta tensors of a graph's nodes, one after another.

    What an operator gives is a matter of the shapes, strides and types that it takes, and of its other
    arguments. So it is worked out once a process: designs of one grammar hold the same few dozen calls.
    """

    def __init__(self, variables: dict[str, Variable], setting: Setting) -> None:
        self._variables, self._setting = variables, setting
        self.values: list[Any] = []
        self._described: list[Any] = []

    def add(self, node: Node) -> Any:
        """Return the value of the next node. Raises what torch raises on a misfit."""
        key = self._setting.real, node.operator, self._key(node.args, node.operator in VALUE_FREE)
        key = *key, tuple((name, self._key(value, False)) for name, value in node.kwargs)
        alone = node.operator in ("input", "constant", "getitem")
        known = None if alone else _KNOWN.get(key)
        if known is None:
            value = (
                input_example(node.args[0], self._variables, self._setting)
                if node.operator == "input"
                else evaluate(node, self.values, self._setting)
            )
            known = value, _described(value)
            if not alone:
                if len(_KNOWN) >= MOST_KNOWN:
                    _KNOWN.clear()
                _KNOWN[key] = known
        self.values.append(known[0])
        self._described.append(known[1])
        return known[0]

    def _key(self, value: Any, value_free: bool) -> Any:
        """Return an argument by all that a result's shape can depend on; 1, 1.0 and True are three."""
        if isinstance(value, Reference):
            return self._described[value.index]
        if isinstance(value, tuple):
            return tuple(self._key(item, value_free) for item in value)
        value = self._setting.argument(value, self.values)
        return type(value), None if value_free and isinstance(value, float) else value


def _described(value: Any) -> Any:
    """Return shape, stride and type of a tensor, or of each of several."""
    if isinstance(value, list | tuple):
        return tuple(map(_described, value))
    return tuple(value.shape), value.stride(), value.dtype


def infer(graph: Graph, variables: dict[str, Variable], setting: Setting) -> list[Any]:
    """Return the meta tensor (or tuple of them) of every node; `setting.device` is "meta". Raises what torch
    raises on a misfit."""
    shapes = _Shapes(variables, setting)
    for node in graph.nodes:
        shapes.add(node)
    return shapes.values


def check_at(
    graph: Graph, outputs: dict[str, Variable], batch: int, n: int, m: int, *, batched: bool
) -> Blocked | None:
    """Return why a graph cannot be run at one size, or None. Only shapes are worked out, and a node that asks
    for too much is not followed any further.

    Args:
        outputs: the variables that the graph gives. batched: whether it gives the whole batch (initial
            values) or one instance (gradients).
    """
    import torch

    setting = Setting(torch.float32, batch, n, m, "meta")
    most = _scaled(MAX_NUMBERS, n) * (batch if batched else 1)
    shapes = _Shapes(outputs, setting)
    for node in graph.nodes:
        try:
            value = shapes.add(node)
        except Exception as error:
            if is_machinery(error):
                raise
            return Blocked(f"the graph does not fit itself at N={n}: {reason_of(error)[:300]}", "graph")
        problem = _tensor_problem(node, value, n, most)
        if problem is not None:
            return problem
    values = shapes.values
    live = _most_alive(graph, values)
    most_live = _scaled(MAX_LIVE_NUMBERS, n)
    if live > most_live * (batch if batched else 1):
        return Blocked(
            f"{live:,} numbers are alive at once for an instance at N={n}, at most {most_live:,} are allowed",
            "graph",
        )
    for name, index in graph.outputs:
        value, wanted = values[index], outputs[name].dimensions(batch, n, m)
        wanted = wanted if batched else wanted[1:]
        if not isinstance(value, torch.Tensor) or tuple(value.shape) != wanted:
            return Blocked(
                f"{name!r} has shape {tuple(getattr(value, 'shape', ()))}, wanted {wanted} (N={n}, M={m})",
                "contract",
            )
        if value.dtype in (torch.complex64, torch.complex128):
            return Blocked(f"{name!r} is complex", "contract")
    return None


def _scaled(limit: int, n: int) -> int:
    return limit * max(n, SIZES[-1][1]) // SIZES[-1][1]


def _tensor_problem(node: Node, value: Any, n: int, most: int) -> Blocked | None:
    """Return why what a node gives is no tensor (or are no tensors) of an allowed size. Extents count alone
    too: an empty tensor may have a vast one."""
    import torch

    tensors = value if isinstance(value, list | tuple) else (value,)
    if len(tensors) > MAX_RESULTS:
        return Blocked(
            f"{node.operator} gives {len(tensors):,} tensors at N={n}, at most {MAX_RESULTS:,} are allowed",
            "graph",
        )
    for tensor in tensors:
        if not isinstance(tensor, torch.Tensor) or (
            tensor.device.type != "meta" and tensor.numel() > MAX_CONSTANT_NUMBERS
        ):
            return Blocked(f"{node.operator} gives no tensor", "graph")
        needed = max(tensor.numel(), *tensor.shape, 0)
        if needed > most:
            return Blocked(
                f"{node.operator} needs {needed:,} numbers an instance at N={n}, at most {most:,} are "
                "allowed",
                "graph",
            )
    return None


def _most_alive(graph: Graph, values: list[Any]) -> int:
    """Return the largest sum of numbers held at one time when each is dropped after its last use. Views count
    as copies."""
    last = {
        reference: position for position, node in enumerate(graph.nodes) for reference in node.references()
    }
    last |= {index: len(graph.nodes) for _, index in graph.outputs}
    sizes = [
        sum(item.numel() for item in value) if isinstance(value, list | tuple) else value.numel()
        for value in values
    ]
    alive = most = 0
    for position, node in enumerate(graph.nodes):
        alive += sizes[position]
        most = max(most, alive)
        alive -= sum(sizes[reference] for reference in set(node.references()) if last[reference] == position)
    return most
