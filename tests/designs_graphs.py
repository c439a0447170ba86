"""Random graphs of operators on which all engines must agree, and what agreeing means. Shared by the short
test and the long attack.

Graphs are built node by node with whatever torch accepts on meta tensors, unusual types, NaN, ties and places
out of range included.
"""

import json
import random
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evolake.designs.compiler.expression import Inexpressible
from evolake.designs.engines.engine import make_stepper
from evolake.designs.model.boundary import alone
from evolake.designs.model.contract import Blocked, TracedDesign, identity
from evolake.designs.model.graph import Graph
from evolake.designs.model.graph_check import check_gradient, input_example
from evolake.designs.model.instances import Planted
from evolake.designs.model.operators import BINARY, UNARY, Setting, evaluate
from evolake.designs.model.stepper import Failed

ENGINES = ("auto", "mixed", "torch")
STEPS = 2
N, M = 11, 47
TOLERANCE = {"float64": 1e-9, "float32": 2e-4}
SCALARS = [
    0,
    1,
    -1,
    2,
    3,
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.0,
    2.0,
    -2.0,
    0.3,
    1.7,
    5.0,
    float("inf"),
    float("-inf"),
    float("nan"),
    True,
    False,
]
TYPES = ["real", "float64", "float32", "float16", "int64", "int32", "int8", "uint8", "bool"]
PARAMETERS = {
    "softshrink": [0.3],
    "hardshrink": [0.3],
    "threshold": [0.1, 0.7],
    "celu": [1.0],
    "logit": [0.01],
    "softplus": [],
    "gelu": [],
}


@dataclass
class Maker:
    """A graph under construction: its JSON nodes, and the meta tensor of each at one size."""

    rng: random.Random
    variables: dict[str, Any]
    setting: Setting

    def __post_init__(self) -> None:
        self.nodes: list[list[Any]] = []
        self.metas: list[Any] = []

    def input(self, name: str) -> int:
        self.nodes.append(["input", [name], {}])
        self.metas.append(input_example(name, self.variables, self.setting))
        return len(self.nodes) - 1

    def add(self, operator: str, *args: Any, **options: Any) -> int | None:
        """The new node's number, or None where torch takes no such operator."""
        entry = [operator, list(args), {key: value for key, value in options.items() if value is not None}]
        try:
            node = Graph.from_json(
                {"nodes": [*([["zeros.default", [[]], {}]] * len(self.nodes)), entry], "outputs": {}}
            ).nodes[-1]
            meta = evaluate(node, self.metas, self.setting)
        except Exception:
            return None
        self.nodes.append(entry)
        self.metas.append(meta)
        return len(self.nodes) - 1

    def tensors(self, kind: str | None = None, shape: tuple[int, ...] | None = None) -> list[int]:
        """Numbers of the nodes that are one tensor, of a kind ("f" real, "b" truth, "i" whole) and shape."""
        result = []
        for place, meta in enumerate(self.metas):
            if isinstance(meta, list | tuple) or meta.numel() > 600:
                continue
            if meta.dtype.is_floating_point:
                own = "f"
            elif str(meta.dtype) == "torch.bool":
                own = "b"
            else:
                own = "i"
            if (kind is None or own in kind) and (shape is None or tuple(meta.shape) == shape):
                result.append(place)
        return result

    def pick(self, kind: str | None = None, shape: tuple[int, ...] | None = None) -> Any:
        """A reference to a node, mostly a late one."""
        result = self.tensors(kind, shape) or self.tensors()
        if self.rng.random() < 0.5:
            result = result[-4:]
        return {"ref": self.rng.choice(result)}

    def rank(self, reference: dict[str, int]) -> int:
        return self.metas[reference["ref"]].ndim

    def dim(self, reference: dict[str, int]) -> int:
        rank = max(1, self.rank(reference))
        return self.rng.randrange(-rank, rank)


def _scalar(maker: Maker) -> Any:
    value = maker.rng.choice(SCALARS)
    return {"float": str(value)} if isinstance(value, float) and not np.isfinite(value) else value


def _like(maker: Maker, operand: dict[str, int]) -> Any:
    """An operand that fits another: of its shape, or a scalar tensor."""
    return maker.pick(maker.rng.choice(["f", "f", "f", "fbi"]), tuple(maker.metas[operand["ref"]].shape))


def grow(maker: Maker) -> int | None:
    """One more node of a random kind."""
    rng, x = maker.rng, maker.pick(maker.rng.choice(["f", "f", "f", "fbi"]))
    keep = rng.choice([True, False])
    match rng.randrange(16):
        case 0 | 1:
            name = rng.choice(UNARY)
            return maker.add(f"{name}.default", x, *PARAMETERS.get(name, []))
        case 2:
            return maker.add(f"{rng.choice(BINARY)}.default", x, _like(maker, x))
        case 3 | 4:
            name = rng.choice(
                ["add", "sub", "mul", "div", "rsub", "remainder", "fmod", "eq", "ne", "lt", "le", "gt", "ge"]
            )
            return (
                maker.add(f"{name}.Tensor", x, _like(maker, x))
                if rng.random() < 0.6
                else maker.add(f"{name}.Scalar", x, _scalar(maker))
            )
        case 5:
            name = rng.choice(
                [
                    "clamp.Tensor",
                    "clamp_min.Tensor",
                    "clamp_max.Tensor",
                    "max.other",
                    "min.other",
                    "where.self",
                    "masked_fill.Scalar",
                ]
            )
            if name == "where.self":
                return maker.add(name, maker.pick("b"), x, _like(maker, x))
            if name == "masked_fill.Scalar":
                return maker.add(name, x, maker.pick("b"), _scalar(maker))
            return maker.add(name, x, _like(maker, x))
        case 6:
            name = rng.choice(
                ["clamp", "hardtanh", "clamp_min", "clamp_max", "leaky_relu", "elu", "nan_to_num"]
            )
            return maker.add(f"{name}.default", x, *[_scalar(maker) for _ in range(rng.choice([0, 1, 1, 2]))])
        case 7:
            name = rng.choice(["amax", "amin", "logsumexp"])
            return maker.add(f"{name}.default", x, [maker.dim(x)], keep)
        case 8:
            name = rng.choice(
                [
                    "sum.dim_IntList",
                    "mean.dim",
                    "var.correction",
                    "std.correction",
                    "linalg_vector_norm.default",
                ]
            )
            return maker.add(
                name,
                x,
                *([2] if "norm" in name else []),
                [maker.dim(x)],
                **({"correction": 1} if "correction" in name else {}),
            )
        case 9:
            name = rng.choice(
                [
                    "max.dim",
                    "min.dim",
                    "sort.default",
                    "topk.default",
                    "cumsum.default",
                    "argmax.default",
                    "argmin.default",
                ]
            )
            if name == "topk.default":
                at = maker.add(name, x, rng.choice([1, 2, 3]), maker.dim(x), rng.choice([True, False]))
            elif name == "sort.default":
                at = maker.add(name, x, maker.dim(x), rng.choice([True, False]))
            else:
                at = maker.add(name, x, maker.dim(x))
            if at is None or not isinstance(maker.metas[at], list | tuple):
                return at
            return maker.add("getitem", {"ref": at}, rng.choice([0, 0, 1]))
        case 10:
            return maker.add("_to_copy.default", x, dtype={"dtype": rng.choice(TYPES)})
        case 11:
            return maker.add("gather.default", x, maker.dim(x), maker.pick("i"))
        case 12:
            v = maker.pick("f", (N,))
            if rng.random() < 0.5:
                return maker.add("index.Tensor", v, [maker.pick("i")])
            where = maker.add("view.default", {"ref": 1}, [{"size": [0, 0, 3, 0]}])
            return maker.add("scatter_add.default", v, 0, {"ref": where}, _flat(maker))
        case 13:
            name = rng.choice(["select", "slice", "unsqueeze", "flip", "roll"])
            if name == "select":
                return maker.add("select.int", x, maker.dim(x), rng.choice([0, 1, -1, 2]))
            if name == "slice":
                return maker.add(
                    "slice.Tensor", x, maker.dim(x), rng.choice([0, 1, -2]), rng.choice([2, 3, 2**63 - 1])
                )
            if name == "roll":
                return maker.add("roll.default", x, [rng.choice([1, -1, 4])], [maker.dim(x)])
            return (
                maker.add("unsqueeze.default", x, maker.dim(x))
                if name == "unsqueeze"
                else maker.add("flip.default", x, [maker.dim(x)])
            )
        case 14:
            name = rng.choice(
                ["stack", "cat", "_softmax", "logical_not", "any.dim", "all.dim", "scatter.value"]
            )
            if name in ("stack", "cat"):
                return maker.add(f"{name}.default", [x, _like(maker, x)], maker.dim(x))
            if name == "_softmax":
                return maker.add("_softmax.default", x, maker.dim(x), False)
            if name == "scatter.value":
                return maker.add(name, x, maker.dim(x), maker.pick("i"), _scalar(maker))
            return maker.add(
                name if "." in name else f"{name}.default", x, *([maker.dim(x)] if "." in name else [])
            )
    return maker.add(
        rng.choice(["pow.Tensor_Scalar", "floor_divide.Scalar", "bitwise_and.Scalar", "div.Tensor_mode"]),
        x,
        _scalar(maker),
    )


def _flat(maker: Maker) -> Any:
    """(3M,) reals of the clauses' literals."""
    at = maker.add("view.default", maker.pick("f", (M, 3)), [{"size": [0, 0, 3, 0]}])
    return {"ref": at} if at is not None else maker.pick("f")


def random_design(base: TracedDesign, rng: random.Random) -> TracedDesign | None:
    """`base` with a random gradient, or None where it does not stand up to the host's checks. Everything made
    has a part in the gradient of v."""
    import torch

    variables = {variable.name: variable for variable in base.variables}
    maker = Maker(rng, variables, Setting(torch.float32, 1, N, M, "meta"))
    for name in ("sgn", "idx", *(f"var:{name}" for name in variables)):
        maker.input(name)
    v = maker.nodes.index(["input", ["var:v"], {}])
    maker.add("index.Tensor", {"ref": v}, [{"ref": 1}])
    maker.add("mul.Tensor", {"ref": len(maker.nodes) - 1}, {"ref": 0})
    for _ in range(rng.randrange(2, 9)):
        grow(maker)
    outputs = {
        name: _gathered(maker, variable.dimensions(1, N, M)[1:]) for name, variable in variables.items()
    }
    if any(place is None for place in outputs.values()):
        return None
    gradient = check_gradient({"nodes": maker.nodes, "outputs": outputs}, base.variables)
    if isinstance(gradient, Blocked):
        return None
    graph = {"gradient": gradient.to_json(), "initial": base.graph["initial"]}
    return replace(base, graph=graph, graph_sha=identity(base.variables, graph, base.hyper_values))


def _gathered(maker: Maker, shape: tuple[int, ...]) -> int | None:
    """A node of an output's shape: the latest of that shape, plus what the latest others come to."""
    late = maker.tensors("f", shape)
    total: int | None = late[-1]
    for place in [place for place in maker.tensors() if tuple(maker.metas[place].shape) != shape][-3:]:
        real = maker.add("_to_copy.default", {"ref": place}, dtype={"dtype": "real"})
        item = (
            real
            if real is None
            else maker.add(maker.rng.choice(["sum.default", "max.default", "mean.default"]), {"ref": real})
        )
        total = (
            None if item is None or total is None else maker.add("add.Tensor", {"ref": total}, {"ref": item})
        )
    return total


def outcome(
    design: TracedDesign, engine: str, instances: Planted, dtype: str, *, off: float = 0.0
) -> tuple[str, Any]:
    """("failed", words) or (the engine that ran, its states after a few steps). `off`: how far the state of
    the reference engine is pushed first."""

    def run() -> tuple[str, Any]:
        stepper, _ = make_stepper(design, instances, seed=3, engine=engine, dtype=dtype)
        if off:
            for state in stepper._state.values():  # pyright: ignore[reportAttributeAccessIssue]
                state.mul_(1 + off)
        try:
            stepper.run(STEPS)
        except Inexpressible:
            return outcome(design, "torch" if engine != "torch" else "reference", instances, dtype)
        return stepper.name, stepper.state()

    try:
        return alone(run, lambda reason: ("raised", reason), passing=(Failed,))
    except Failed as failed:
        return "failed", str(failed)


def apart(state: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> float:
    """The largest relative difference of two states; infinite where one is a number and the other is not."""
    most = 0.0
    for name, left in state.items():
        right = other[name]
        if not np.array_equal(np.isnan(left), np.isnan(right)) or not np.array_equal(
            np.isinf(left), np.isinf(right)
        ):
            return float("inf")
        finite = np.isfinite(left)
        if not np.array_equal(left[~finite], right[~finite], equal_nan=True):
            return float("inf")
        gap = np.abs(left[finite] - right[finite]) / (1 + np.abs(left[finite]))
        most = max(most, float(gap.max(initial=0.0)))
    return most


def disagreement(design: TracedDesign, instances: Planted, dtype: str) -> tuple[str | None, str]:
    """(what one engine does otherwise than the reference engine, or None; the engine that "auto" took).

    A gap counts when the reference engine itself, its start pushed by a few units in the last place, stays
    ten times nearer to itself.
    """
    name, plain = outcome(design, "reference", instances, dtype)
    took = "failed"
    for engine in ENGINES:
        ran, state = outcome(design, engine, instances, dtype)
        took = ran if engine == "auto" else took
        if (name in ("failed", "raised")) != (ran in ("failed", "raised")):
            return (
                f"reference: {name} {plain if isinstance(plain, str) else ''}; {engine}: {ran} "
                f"{state if isinstance(state, str) else ''}",
                took,
            )
        if isinstance(plain, str) or isinstance(state, str):
            continue
        gap = apart(plain, state)
        if gap > TOLERANCE[dtype] and not _shaky(design, instances, dtype, plain, gap):
            return f"{engine} ran as {ran} and is {gap:.3g} apart", took
    return None, took


def _shaky(
    design: TracedDesign, instances: Planted, dtype: str, plain: dict[str, np.ndarray], gap: float
) -> bool:
    """Whether rounding alone explains a gap: the reference engine itself moves as far when its start moves by
    some units in the last place."""
    unit = float(np.finfo(dtype).eps)
    for off in (8 * unit, -8 * unit, 64 * unit, -64 * unit, 1e3 * unit, -1e3 * unit):
        name, moved = outcome(design, "reference", instances, dtype, off=off)
        if name in ("failed", "raised") or apart(plain, moved) > gap / 10:
            return True
    return False


def written(design: TracedDesign) -> str:
    """The gradient's nodes, one per line."""
    return "\n".join(
        f"{place}: {json.dumps(node)}" for place, node in enumerate(design.graph["gradient"]["nodes"])
    ) + (f"\n{design.graph['gradient']['outputs']}")
