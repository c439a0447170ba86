"""The graph of a genome without torch and without a jail: its composed file, read as data.

A file that `open_compose` writes is a dozen kinds of statements over some forty calls of torch. They are read
here one by one, and each gives the node that a trace of the file records (`evolake.designs.tracing.driver`).
Nothing is executed: what `open_compose` does not write is refused. The result goes through the same checks of
the host as a reply of the jail (`trace.accept`), and tests compare the two on drawn genomes.

What is read so races, and no more: a design that enters a cycle's candidates is traced in the jail before,
and blocked if that gives another graph (`evolake.designs.evolution.breeding`).
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evolake.designs.genome.open_compose import compose
from evolake.designs.genome.open_genome import OpenGenome
from evolake.designs.model.contract import Blocked, TracedDesign
from evolake.designs.model.graph import Dtype, Graph, Node, Reference, Symbol, canonical
from evolake.designs.model.graph_check import Fits, check_all
from evolake.designs.model.spec import read_hypers, read_variables
from evolake.designs.tracing.trace import accept
from evolake.parsing import parse_python

Extent = int | Symbol
BATCH, VARIABLES, CLAUSES = Symbol(1, 0, 0, 0), Symbol(0, 1, 0, 0), Symbol(0, 0, 1, 0)
EXTENTS: Mapping[str, Symbol] = {"B": BATCH, "N": VARIABLES, "M": CLAUSES}
OF_TWO: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
OF_NUMBERS: Mapping[str, Callable[..., Any]] = {
    "abs": abs,
    "min": min,
    "max": max,
    **{f"math.{name}": getattr(math, name) for name in ("sqrt", "log1p", "exp", "tanh")},
}


class Unread(ValueError):
    """A file that holds something that `open_compose` does not write."""


@dataclass(frozen=True)
class _Tensor:
    """A node's value: its number and shape. spread: whether it is expanded, so that a reshape copies it."""

    index: int
    shape: tuple[Extent, ...]
    spread: bool = False


def traced_genome(genome: OpenGenome, fits: Fits = check_all) -> TracedDesign | Blocked:
    """Return what a trace of the composed file of `genome` in float32 gives, after the checks of the host.

    Args:
        fits: where shapes are worked out, which needs torch.

    Raises:
        Unread: the file holds something that has no rule here; it has to be traced.
    """
    module = _Names()
    for statement in parse_python(compose(genome)).body:
        module.run(statement)
    variables, initialisers = read_variables(module.names["VARIABLES_SPEC"])
    hypers = read_hypers(module.names["HYPER_SPACE"])
    values = {hyper.name: hyper.default for hyper in hypers}
    initial = {}
    for variable in variables:
        shape = tuple(EXTENTS[item] if isinstance(item, str) else item for item in variable.shape)
        names = _Names({"shape": shape}, module.functions)
        start = names.read(initialisers[variable.name].body)
        initial[variable.name] = names.graph({variable.name: start}).to_json()
    reply = {
        "variables": [[item.name, list(item.shape), item.low, item.high] for item in variables],
        "hypers": [
            [item.name, item.type, item.default, item.low, item.high, list(item.choices)] for item in hypers
        ],
        "graph": {
            "gradient": _gradient(module.functions["_grad_single"], variables, values).to_json(),
            "initial": initial,
        },
    }
    return accept(reply, {}, "float32", None, fits)


def _gradient(function: ast.FunctionDef, variables: Sequence[Any], values: Mapping[str, Any]) -> Graph:
    names = _Names()
    state = {
        item.name: names.add("input", tuple(EXTENTS[part] for part in item.shape[1:]), f"var:{item.name}")
        for item in variables
    }
    names.names |= {
        "vars": state,
        "idx": names.add("input", (CLAUSES, 3), "idx"),
        "sgn": names.add("input", (CLAUSES, 3), "sgn"),
        "hp": values,
    }
    for statement in function.body[:-1]:
        names.run(statement)
    last = function.body[-1]
    if not isinstance(last, ast.Return) or last.value is None:
        raise Unread("a function without a return at its end")
    return names.graph(names.read(last.value))


@dataclass
class _Initialiser:
    """A lambda of a variable's shape, unread."""

    body: ast.expr

    def __call__(self) -> None:
        raise Unread("an initialiser is read, not called")


@dataclass
class _Names:
    """The names of a scope, and the nodes that reading its statements has given."""

    names: dict[str, Any] = field(default_factory=dict)
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)

    def graph(self, outputs: Mapping[str, _Tensor]) -> Graph:
        """Return the nodes as a graph."""
        return canonical(
            Graph(tuple(self.nodes), tuple(sorted((name, item.index) for name, item in outputs.items())))
        )

    def add(self, name: str, shape: tuple[Extent, ...], *args: Any, spread: bool = False) -> _Tensor:
        """Append a node; tensors among `args` become references."""
        self.nodes.append(Node(name, tuple(map(_argument, args))))
        return _Tensor(len(self.nodes) - 1, shape, spread)

    def run(self, statement: ast.stmt) -> None:
        """Read one statement."""
        match statement:
            case ast.Assign([ast.Name(name)], value):
                self.names[name] = self.read(value)
            case ast.Assign([ast.Tuple(targets)], value):
                values = self.read(value)
                for target, part in zip(targets, values, strict=True):
                    self.names[_name(target)] = part
            case ast.FunctionDef(name=name):
                self.functions[name] = statement
            case ast.Import([ast.alias("math" | "torch")]) | ast.Expr(ast.Constant()):
                return
            case _:
                raise Unread(f"a statement {type(statement).__name__}")

    def read(self, item: ast.expr) -> Any:
        """Return the value of an expression: a number, a text, a tuple, a dict, or a tensor."""
        match item:
            case ast.Constant(value):
                return value
            case ast.Name(name) if name in self.names:
                return self.names[name]
            case ast.Tuple(parts):
                return tuple(self.read(part) for part in parts)
            case ast.Dict(keys, values):
                pairs = zip(keys, values, strict=True)
                return {self.read(key): self.read(value) for key, value in pairs if key}
            case ast.Lambda(body=body):
                return _Initialiser(body)
            case ast.Attribute(ast.Name("hp"), name) if name in self.names["hp"]:
                return self.names["hp"][name]
            case ast.UnaryOp(ast.USub(), operand):
                value = self.read(operand)
                return self.add("neg.default", value.shape, value) if isinstance(value, _Tensor) else -value
            case ast.BinOp(left, how, right) if type(how) in OF_TWO:
                return self._of_two(type(how), self.read(left), self.read(right))
            case ast.Compare(left, [ast.Gt() | ast.Eq() as how], [right]):
                value = self.read(left)
                name = "gt.Scalar" if isinstance(how, ast.Gt) else "eq.Scalar"
                return self.add(name, value.shape, value, self.read(right))
            case ast.Subscript(value, place):
                return self._at(self.read(value), place)
            case ast.Call(function, args, keywords):
                given = {word.arg or "": self.read(word.value) for word in keywords}
                return self._called(function, [self.read(arg) for arg in args], given)
        raise Unread(f"an expression {type(item).__name__}")

    def _at(self, value: Any, place: ast.expr) -> Any:
        match place:
            case ast.Constant(key):
                return value[key]
            case ast.Name("idx"):
                return self.add("index.Tensor", (CLAUSES, 3), value, (self.names["idx"],))
            case ast.Tuple([ast.Slice(None, None), ast.Constant(int() as column)]):
                return self.add("select.int", value.shape[:1], value, 1, column)
            case ast.Tuple([ast.Slice(None, None), ast.Slice(None, ast.Constant(1))]):
                return self.add("slice.Tensor", (value.shape[0], 1), value, 1, 0, 1)
        raise Unread("another index")

    def _of_two(self, how: type[ast.operator], first: Any, second: Any) -> Any:
        if not isinstance(first, _Tensor) and not isinstance(second, _Tensor):
            return OF_TWO[how](first, second)
        shape = _joined(first, second)
        if not isinstance(first, _Tensor):
            match how:
                case ast.Add | ast.Mult:
                    first, second = second, first
                case ast.Sub:
                    return self.add("rsub.Scalar", shape, second, first)
                case ast.Div:
                    return self.add("mul.Tensor", shape, self.add("reciprocal.default", shape, second), first)
                case _:
                    return self.add("pow.Scalar", shape, first, second)
        if how is ast.Pow:
            kind = "Tensor" if isinstance(second, _Tensor) else "Scalar"
            return self.add(f"pow.Tensor_{kind}", shape, first, second)
        return self.add(f"{ARITHMETIC[how]}.Tensor", shape, first, second)

    def _called(self, function: ast.expr, args: list[Any], given: dict[str, Any]) -> Any:
        match function:
            case ast.Name("dict"):
                return given
            case ast.Name(name) if name in OF_NUMBERS:
                return OF_NUMBERS[name](*args)
            case ast.Attribute(ast.Name("math"), name) if f"math.{name}" in OF_NUMBERS:
                return OF_NUMBERS[f"math.{name}"](*args)
            case ast.Attribute(ast.Name("torch"), name):
                return self._torch(name, args, given)
            case ast.Attribute(value, name):
                return self._torch(name, [self.read(value), *args], given)
        raise Unread("another call")

    def _torch(self, name: str, args: list[Any], given: dict[str, Any]) -> Any:
        first: Any = args[0]
        shape: Any = first.shape if isinstance(first, _Tensor) else ()
        match name, args[1:], given:
            case "square", [], _:
                return self.add("pow.Tensor_Scalar", shape, first, 2)
            case (("abs" | "sqrt" | "log" | "log1p" | "exp" | "tanh" | "sigmoid" | "relu"), [], _):
                return self.add(f"{name}.default", shape, first)
            case (("zeros_like" | "ones_like"), [], _):
                return self.add(f"{name}.default", shape, first)
            case (("minimum" | "maximum"), [second], _):
                return self.add(f"{name}.default", _joined(first, second), first, second)
            case "clamp", rest, _:
                low, high = (*rest, given.get("min"), given.get("max"))[:2]
                return self.add("clamp.default", shape, first, *((low,) if high is None else (low, high)))
            case (("amin" | "amax"), [], {"dim": 1}):
                return self.add(f"{name}.default", shape[:1], first, (1,))
            case "mean", [], {"dim": 1}:
                return self.add("mean.dim", shape[:1], first, (1,))
            case "sum", [], {"dim": 1}:
                return self.add("sum.dim_IntList", shape[:1], first, (1,))
            case (("mean" | "sum" | "max"), [], {}):
                return self.add(f"{name}.default", (), first)
            case "topk", [2], {"dim": 1}:
                both = self.add("topk.default", (shape[0], 2), first, 2, 1)
                return tuple(self.add("getitem", both.shape, both, place) for place in (0, 1))
            case "where", [yes, no], _:
                return self.add("where.self", shape, first, self._scalar(yes), self._scalar(no))
            case "scatter", [1, at, float() as value], _:
                return self.add("scatter.value", shape, first, 1, at, value)
            case "scatter", [1, at, source], _:
                return self.add("scatter.src", shape, first, 1, at, source)
            case "scatter_add", [0, at, source], _:
                return self.add("scatter_add.default", shape, first, 0, at, source)
            case "unsqueeze", [1], _:
                return self.add("unsqueeze.default", (*shape, 1), first, 1)
            case "expand", [-1, 3], _:
                return self.add("expand.default", (shape[0], 3), first, (-1, 3), spread=True)
            case "reshape", [-1], _:
                return self._flat(first)
            case (("rand" | "ones" | "zeros"), [], _):
                return self.add(f"{name}.default", args[0], args[0])
        raise Unread(f"a call of {name}")

    def _scalar(self, value: float) -> _Tensor:
        self.nodes.append(Node("scalar_tensor.default", (value,), (("dtype", Dtype("real")),)))
        return _Tensor(len(self.nodes) - 1, ())

    def _flat(self, item: _Tensor) -> _Tensor:
        flat = (_count(item.shape),)
        if item.spread:
            return self.add("_unsafe_view.default", flat, self.add("clone.default", item.shape, item), flat)
        return self.add("view.default", flat, item, (-1,))


ARITHMETIC: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
}


def _name(target: ast.expr) -> str:
    if isinstance(target, ast.Name):
        return target.id
    raise Unread("another target")


def _argument(value: Any) -> Any:
    if isinstance(value, _Tensor):
        return Reference(value.index)
    return tuple(map(_argument, value)) if isinstance(value, tuple) else value


def _joined(first: Any, second: Any) -> tuple[Extent, ...]:
    """Return the shape of two operands taken together."""
    shapes = sorted((item.shape for item in (first, second) if isinstance(item, _Tensor)), key=len)
    longest = shapes[-1]
    if len(shapes) == 2 and len(shapes[0]) == 2:
        return tuple(other if one == 1 else one for one, other in zip(*shapes, strict=True))
    return longest


def _count(shape: tuple[Extent, ...]) -> Extent:
    """Return the number of entries, at most one extent of which is a symbol."""
    result: Extent = 1
    for extent in shape:
        if isinstance(extent, Symbol):
            factor = result if isinstance(result, int) else 0
            result = Symbol(0, factor * extent.variables, factor * extent.clauses, 0)
        else:
            result = (
                Symbol(0, extent * result.variables, extent * result.clauses, 0)
                if isinstance(result, Symbol)
                else extent * result
            )
    return result
