"""Mutated replies of a trace: what a design that has taken over its jail may send. Shared by the short tests
and the long attack."""

import copy
import random
from typing import Any

NAMES = [
    "out0.0",
    "~out0.0",
    "in0.3",
    "v",
    "idx",
    "sgn",
    "",
    "x" * 5000,
    "v\n",
    "v\x00",
    "\uff56",
    "\u00e9",
    "v v",
    "__class__",
    "0",
    "var:v",
    "None",
    "%s",
    "../x",
]
NUMBERS = [
    0,
    1,
    -1,
    2,
    3,
    7,
    63,
    64,
    65,
    255,
    4097,
    10**6,
    10**9,
    2**31,
    2**31 - 1,
    -(2**31),
    2**53,
    2**63,
    -(2**63),
    2**63 - 1,
    10**30,
    10**400,
    -(10**400),
    0.0,
    -0.0,
    0.5,
    1e-300,
    1e300,
    -1e300,
    1e308,
    float("inf"),
    float("-inf"),
    float("nan"),
    True,
    False,
]
OTHERS = [
    None,
    "",
    "B",
    "N",
    "M",
    "real",
    "float64",
    "int64",
    "bool",
    [],
    {},
    [[]],
    {"ref": 0},
    {"ref": -1},
    {"ref": 10**9},
    {"size": [1, 0, 0, 0]},
    {"size": [0, 10**8, 10**8, 0]},
    {"size": [0, 1, 0, -11]},
    {"size": [0, -1, 0, 12]},
    {"power": [1.0, 400.0, 400.0]},
    {"power": [float("nan"), 1, 1]},
    {"dtype": "int64"},
    {"dtype": "complex64"},
    {"dtype": "bool"},
    {"float": "nan"},
    {"float": "inf"},
    {"constant": {"dtype": "int64", "shape": [1], "data": [-(2**63)]}},
]
OPERATORS = [
    "floor_divide.default",
    "remainder.Scalar",
    "fmod.Tensor",
    "div.Tensor_mode",
    "getitem",
    "input",
    "constant",
    "unbind.int",
    "split.Tensor",
    "arange.start_step",
    "repeat.default",
    "expand.default",
    "zeros.default",
    "new_zeros.default",
    "zeros_like.default",
    "cumsum.default",
    "sort.default",
    "topk.default",
    "gather.default",
    "index.Tensor",
    "scatter_add.default",
    "view.default",
    "slice.Tensor",
    "mm.default",
    "max.dim",
    "kthvalue.default",
    "roll.default",
    "system",
    "pow.Tensor_Scalar",
]
KEYWORDS = ["device", "dtype", "alpha", "out", "dim", "layout", "generator", "pin_memory"]
DEEPEST = 12
DEEP: list[Any] = []
for _ in range(3000):
    DEEP = [DEEP]


def places(value: Any, path: tuple = ()) -> list[tuple]:
    """The path of everything in a JSON value, containers included."""
    result = [path] if path else []
    if len(path) > DEEPEST:
        return result
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    else:
        items = ()
    for key, item in items:
        result += places(item, (*path, key))
    return result


def mutated(reply: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """A copy with one to three changes: names, numbers, operators, references, shapes; entries dropped,
    doubled, swapped or nested."""
    changed = copy.deepcopy(reply)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        _change(changed, rng)
    return changed


def _change(reply: dict[str, Any], rng: random.Random) -> None:
    kind = rng.random()
    if kind < 0.15:
        renamed(reply, rng.choice(NAMES), rng)
        return
    if kind < 0.45:  # a number of the graph, which is most likely to leave a graph that is one
        leaves = [
            path
            for path in places(reply["graph"] if isinstance(reply.get("graph"), dict) else {})
            if _is_number(_at(reply["graph"], path))
        ]
        if leaves:
            path = rng.choice(leaves)
            old = _at(reply["graph"], path)
            near = (
                [old + 1, old - 1, -old, old * 2, old * 3]
                if isinstance(old, int)
                else [old * 1e30, -old, old + 1.0]
            )
            _put(reply["graph"], path, rng.choice([*near, rng.choice(NUMBERS)]))
        return
    if kind < 0.6:
        nodes = [
            path
            for path in places(reply)
            if path[-1] == 0 and isinstance(_at(reply, path), str) and "nodes" in path
        ]
        if nodes:
            _put(reply, rng.choice(nodes), rng.choice([*OPERATORS, _at(reply, rng.choice(nodes))]))
        return
    if kind < 0.66:
        options = [path for path in places(reply) if isinstance(_at(reply, path), dict) and path[-1] == 2]
        if options:
            _at(reply, rng.choice(options))[rng.choice(KEYWORDS)] = rng.choice(
                ["cpu", {"dtype": "int64"}, 2, -1, None]
            )
        return
    everywhere = places(reply)
    path = rng.choice(everywhere)
    parent = _at(reply, path[:-1])
    what = rng.random()
    if what < 0.2:
        del parent[path[-1]]
    elif what < 0.35 and isinstance(parent, list):
        parent.insert(path[-1], _copied(_at(reply, path)))
    elif what < 0.5:
        _put(reply, path, _copied(_at(reply, rng.choice(everywhere))))
    elif what < 0.55:
        _put(reply, path, DEEP)
    else:
        _put(reply, path, copy.deepcopy(rng.choice([*NUMBERS, *NAMES, *OTHERS])))


def renamed(reply: dict[str, Any], name: str, rng: random.Random) -> None:
    """One variable under another name, everywhere, as a forger would do it who wants the rest to hold."""
    variables = reply.get("variables")
    if not isinstance(variables, list) or not variables:
        return
    entry = rng.choice(variables)
    if not isinstance(entry, list) or not entry or not isinstance(entry[0], str):
        return
    old, entry[0] = entry[0], name
    graph = reply.get("graph")
    if (
        not isinstance(graph, dict)
        or not isinstance(graph.get("gradient"), dict)
        or not isinstance(graph.get("initial"), dict)
    ):
        return
    if old in graph["initial"]:
        graph["initial"][name] = graph["initial"].pop(old)
    for part in (graph["gradient"], graph["initial"].get(name)):
        if isinstance(part, dict) and isinstance(part.get("outputs"), dict) and old in part["outputs"]:
            part["outputs"][name] = part["outputs"].pop(old)
    nodes = graph["gradient"].get("nodes")
    for node in nodes if isinstance(nodes, list) else []:
        if isinstance(node, list) and node[:2] == ["input", [f"var:{old}"]]:
            node[1] = [f"var:{name}"]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _copied(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except RecursionError:
        return []


def _at(value: Any, path: tuple) -> Any:
    for key in path:
        value = value[key]
    return value


def _put(value: Any, path: tuple, new: Any) -> None:
    _at(value, path[:-1])[path[-1]] = new
