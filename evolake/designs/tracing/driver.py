"""Runs inside the jail: loads a design file, traces it, answers with JSON.

`make_fx` records the aten operators of `_grad_single` on example tensors; `functionalize` turns in-place
writes into pure operators, and a write to an input into something that can be seen and refused. The traces at
several sizes become one graph with symbolic sizes (evolake.designs.model.unify). Everything this module says
is hearsay to the host, which checks the reply as it would check a stranger's
(evolake.designs.model.graph_check).
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from evolake.designs.model.contract import MAX_CONSTANT_NUMBERS, MAX_NODES, MAX_SOURCE_BYTES, Blocked
from evolake.designs.model.graph import Constant, Dtype, Graph, Node, Reference, canonical
from evolake.designs.model.spec import read_hypers, read_variables
from evolake.designs.model.unify import POINTS, NotUniform, unify

EXPORTS = ("VARIABLES_SPEC", "HYPER_SPACE", "_grad_single")
_DROPPED = frozenset({"device", "layout", "pin_memory", "memory_format", "non_blocking", "generator"})


class Stop(Exception):
    """Carries the verdict out of the depths."""

    def __init__(self, gate: str, reason: str):
        super().__init__(reason)
        self.blocked = Blocked(reason, gate)


def trace(source: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Trace the design in `source`.

    payload: {"hyper": {name: value} of values that replace defaults, "dtype": "float32"|"float64", "size":
    null or [N, M]}. Returns {"status": "traced", "variables", "hypers", "hyper_values", "graph",
    "overridden"} or {"status": "blocked", "gate", "reason"}.
    """
    try:
        return _trace(source, payload)
    except Stop as stop:
        return {"status": "blocked", "gate": stop.blocked.gate, "reason": stop.blocked.reason}


def _trace(source: str, payload: dict[str, Any]) -> dict[str, Any]:
    import torch

    torch.set_num_threads(1)
    torch.set_default_dtype(getattr(torch, payload["dtype"]))
    module = load(source)
    variables, initialisers = _or_stop(lambda: read_variables(module.VARIABLES_SPEC))
    hypers = _or_stop(lambda: read_hypers(module.HYPER_SPACE))
    values = {hyper.name: hyper.default for hyper in hypers}
    values.update({name: value for name, value in payload["hyper"].items() if name in values})
    points = [(5, *payload["size"]), (7, *payload["size"])] if payload["size"] else list(POINTS)
    hyper = types.SimpleNamespace(**values)
    traces = [
        _trace_gradient(module._grad_single, variables, hyper, point, payload["dtype"]) for point in points
    ]
    gradient = _unified(traces, points, batched=False, what="_grad_single")
    initial = {}
    for variable in variables:
        traces = [_trace_initial(initialisers[variable.name], variable, point) for point in points]
        initial[variable.name] = _unified(traces, points, batched=True, what=f"init of {variable.name!r}")
    return {
        "status": "traced",
        "variables": [[item.name, list(item.shape), item.low, item.high] for item in variables],
        "hypers": [
            [item.name, item.type, item.default, item.low, item.high, list(item.choices)] for item in hypers
        ],
        "hyper_values": values,
        "graph": {
            "gradient": gradient.to_json(),
            "initial": {name: graph.to_json() for name, graph in initial.items()},
        },
    }


def load(source: str) -> types.ModuleType:
    """Return the design as a module. Stops at gate `load` when it cannot be read or lacks an export."""
    if len(source.encode()) > MAX_SOURCE_BYTES:
        raise Stop("load", f"the file is larger than {MAX_SOURCE_BYTES} bytes")
    module = types.ModuleType("design")
    module.__file__ = "design.py"
    sys.modules["design"] = module
    try:
        exec(compile(source, "design.py", "exec"), module.__dict__)
    except SyntaxError as error:
        raise Stop("load", f"line {error.lineno}: {error.msg}") from None
    except BaseException as error:
        raise Stop("load", f"loading the file raised {_one_line(error)}") from None
    missing = [name for name in EXPORTS if not hasattr(module, name)]
    if missing:
        raise Stop("load", f"no {', no '.join(missing)}")
    return module


def _or_stop(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except ValueError as error:
        raise Stop("contract", str(error)) from None


def _unified(
    graphs: Sequence[Graph], points: Sequence[tuple[int, int, int]], *, batched: bool, what: str
) -> Graph:
    try:
        return canonical(unify(graphs, points, batched=batched))
    except NotUniform as error:
        raise Stop("size", f"{what}: {error}") from None


def _trace_gradient(
    function: Any, variables: Sequence[Any], hyper: Any, point: tuple[int, int, int], dtype: str
) -> Graph:
    import torch

    _, n, m = point
    generator = torch.Generator().manual_seed(n * 1_000_003 + m)
    names = [variable.name for variable in variables]
    examples = [_example(variable, point, generator) for variable in variables]
    clauses = example_clauses(n, m)
    signs = (2 * torch.randint(0, 2, (m, 3), generator=generator) - 1).to(getattr(torch, dtype))

    def single(*tensors: torch.Tensor) -> dict[str, torch.Tensor]:
        state = dict(zip(names, tensors[: len(names)], strict=True))
        given = dict(state)
        gradients = function(state, tensors[-2], tensors[-1], hyper)
        if not isinstance(gradients, dict):
            raise Stop(
                "contract", f"_grad_single returned {type(gradients).__name__}, wanted a dict of tensors"
            )
        if set(gradients) != set(names):
            raise Stop("contract", f"_grad_single returned keys {_names(gradients)}, wanted {_names(names)}")
        for name, tensor in given.items():
            if not isinstance(gradients[name], torch.Tensor):
                raise Stop(
                    "contract",
                    f"the gradient of {name!r} is {type(gradients[name]).__name__}, wanted a tensor",
                )
            if tuple(gradients[name].shape) != tuple(tensor.shape):
                raise Stop(
                    "contract",
                    f"the gradient of {name!r} has shape {tuple(gradients[name].shape)}, wanted "
                    f"{tuple(tensor.shape)} (N={n}, M={m})",
                )
        return {name: gradients[name] for name in names}

    return record(
        single, [*examples, clauses, signs], [*(f"var:{name}" for name in names), "idx", "sgn"], names, dtype
    )


@cache
def example_clauses(n: int, m: int) -> Any:
    """Return (m, 3) int64: clauses of a trace, three variables each. Kept, so that a jail that has made them
    once forks with them."""
    import torch

    generator = torch.Generator().manual_seed(n * 1_000_003 + m + 1)
    return torch.stack([torch.randperm(n, generator=generator)[:3] for _ in range(m)])


def _trace_initial(initialiser: Any, variable: Any, point: tuple[int, int, int]) -> Graph:
    import torch

    shape = variable.dimensions(*point)

    def single() -> dict[str, torch.Tensor]:
        value = initialiser(shape)
        if not isinstance(value, torch.Tensor) or tuple(value.shape) != shape:
            got = tuple(value.shape) if isinstance(value, torch.Tensor) else type(value).__name__
            raise Stop("contract", f"init of {variable.name!r} gave {got} for shape {shape}")
        return {variable.name: value}

    return record(
        single,
        [],
        [],
        [variable.name],
        "float32" if torch.get_default_dtype() == torch.float32 else "float64",
    )


def _example(variable: Any, point: tuple[int, int, int], generator: Any) -> Any:
    import torch

    low = -1.0 if variable.low is None else variable.low
    high = low + 2.0 if variable.high is None else min(variable.high, low + 2.0)
    return low + (high - low) * torch.rand(variable.dimensions(*point)[1:], generator=generator)


def record(
    function: Callable[..., dict[str, Any]],
    examples: list[Any],
    inputs: list[str],
    outputs: list[str],
    dtype: str,
) -> Graph:
    """Return the graph of `function` on `examples`, canonical, sizes still plain numbers."""
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    from evolake.designs.tracing.shims import TracingShims, without_annotations

    def shimmed(*tensors: Any) -> dict[str, Any]:
        with TracingShims():
            return function(*tensors)

    try:
        with torch.no_grad(), without_annotations():
            traced = make_fx(torch.func.functionalize(shimmed, remove="mutations"))(*examples)
    except Stop:
        raise
    except Exception as error:
        text = _one_line(error)
        if (
            "get value out of a tracing tensor" in text
            or "vmap: It looks like you're calling .item()" in text
        ):
            raise Stop(
                "trace", "control flow or a Python number depends on the data, which one graph cannot express"
            ) from None
        raise Stop("trace", f"tracing raised {text}") from None
    return _graph_of(traced, inputs, outputs, dtype)


def _graph_of(traced: Any, inputs: list[str], outputs: list[str], dtype: str) -> Graph:
    nodes: list[Node] = []
    index_of: dict[Any, int] = {}
    waiting = iter(inputs)
    result: dict[str, Any] = {}
    if len(traced.graph.nodes) > 4 * MAX_NODES:
        raise Stop("operators", f"{len(traced.graph.nodes)} operators, at most {4 * MAX_NODES} are traced")
    for fx in traced.graph.nodes:
        if fx.op == "output":
            result = fx.args[0]
            continue
        if fx.op == "placeholder":
            node = Node("input", (next(waiting),))
        elif fx.op == "get_attr":
            node = Node("constant", (_constant(getattr(traced, fx.target), dtype),))
        elif fx.op == "call_function":
            node = _call(fx, index_of, dtype)
        else:
            raise Stop("trace", f"an unexpected {fx.op} in the trace")
        index_of[fx] = len(nodes)
        nodes.append(node)
    return canonical(
        Graph(tuple(nodes), tuple(sorted((name, index_of[result[name]]) for name in outputs))), reorder=False
    )


def _call(fx: Any, index_of: dict[Any, int], dtype: str) -> Node:
    args = tuple(_argument(arg, index_of, dtype) for arg in fx.args)
    kwargs = tuple(
        sorted(
            (key, _argument(value, index_of, dtype))
            for key, value in fx.kwargs.items()
            if key not in _DROPPED and value is not None
        )
    )
    name = getattr(fx.target, "__name__", str(fx.target))
    if name == "getitem":
        return Node("getitem", args)
    namespace = getattr(fx.target, "namespace", "python")
    if namespace != "aten":
        raise Stop("operators", f"operator {namespace}::{name} is not on the list")
    base, _, overload = name.partition(".")
    if base.endswith("_") and not base.endswith("__"):
        if base == "copy_" or fx.args[0].op == "placeholder":
            raise Stop(
                "contract", "_grad_single writes to one of its inputs in place; return the gradient instead"
            )
        name = f"{base[:-1]}.{overload}"
    return Node(name, args, kwargs)


def _argument(value: Any, index_of: dict[Any, int], dtype: str) -> Any:
    import torch

    if isinstance(value, torch.fx.Node):
        return Reference(index_of[value])
    if isinstance(value, torch.dtype):
        return _dtype(value, dtype)
    if isinstance(value, list | tuple):
        return tuple(_argument(item, index_of, dtype) for item in value)
    if isinstance(value, torch.Tensor):
        raise Stop("trace", "a tensor leaks into an operator's arguments")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise Stop("operators", f"an argument of type {type(value).__name__} is not on the list")


def _dtype(value: Any, real: str) -> Dtype:
    name = str(value).removeprefix("torch.")
    return Dtype("real" if name == real else name)


def _constant(tensor: Any, real: str) -> Constant:
    if tensor.numel() > MAX_CONSTANT_NUMBERS:
        raise Stop(
            "operators",
            f"a constant tensor of {tensor.numel()} numbers, at most {MAX_CONSTANT_NUMBERS} are allowed",
        )
    return Constant(_dtype(tensor.dtype, real).name, tuple(tensor.shape), tuple(tensor.flatten().tolist()))


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:400]


def _names(keys: Any) -> str:
    return "{" + ", ".join(sorted(str(key) for key in keys)) + "}"
