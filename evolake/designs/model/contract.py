"""What a design is, before and after tracing.

A design file exports `VARIABLES_SPEC`, `HYPER_SPACE` and `_grad_single(vars, idx, sgn, hp)` (the contract of
the paper's framework, section 4.5 and its public files). Here live the values that cross module borders: the
variables with their bounds, the hyperparameters, the traced design, and the verdict on a design that cannot
be used. A blocked design is a value, never an exception.

Gates, in the order in which a design meets them:
    load       the file: size, syntax, the three exports
    contract   the variables, the hyperparameters, the keys and shapes that come back, inputs left as they
               were
    trace      control flow that depends on data, an error inside the design
    operators  an operator that is not on the list
    size       a graph that depends on N and M in a way that no symbol expresses (trace it at one size
               instead)
    graph      what came out of the jail is no well-formed graph, or needs too much memory
    jail       time, memory or output beyond the limits, or a forbidden system call
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from evolake.designs.model.graph import Graph, sha_of

HYPER_TYPES = ("uniform", "log_uniform", "int", "categorical")
DEFAULT_LEARNING_RATE = 1e-2
MAX_SOURCE_BYTES = 256 * 1024
MAX_NODES = 5_000
MAX_CONSTANT_NUMBERS = 4_096

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
"""Of variables and hyperparameters; to be matched in full."""

HyperValue = float | int | str | bool


@dataclass(frozen=True)
class Variable:
    """One state variable. `shape` of the batch, e.g. ("B", "M", 3); `low` and `high` clamp it after each
    step, None or infinite = unbounded."""

    name: str
    shape: tuple[str | int, ...]
    low: float | None
    high: float | None

    def dimensions(self, batch: int, n: int, m: int) -> tuple[int, ...]:
        """Return the shape for a batch, n variables and m clauses."""
        sizes = {"B": batch, "N": n, "M": m}
        return tuple(sizes[item] if isinstance(item, str) else item for item in self.shape)


@dataclass(frozen=True)
class Hyper:
    """One hyperparameter. `low` and `high` are None for a categorical one, `choices` is empty for the
    others."""

    name: str
    type: Literal["uniform", "log_uniform", "int", "categorical"]
    default: HyperValue
    low: float | None = None
    high: float | None = None
    choices: tuple[HyperValue, ...] = ()


@dataclass(frozen=True)
class Blocked:
    """Why a design cannot be used: the gate that stopped it (load, contract, trace, operators, size, graph or
    jail) and one sentence."""

    reason: str
    gate: str


@dataclass(frozen=True)
class TracedDesign:
    """A design as data: what the host checks and runs.

    graph: {"gradient": graph, "initial": {variable: graph}} in the JSON form of evolake.designs.model.graph.
    graph_sha: sha256 over the variables, the graphs (hyperparameter values are constants in them) and lr:
    equal designs, equal hashes. dtype: the type it was traced in, "float32" or "float64". size: (N, M) when
    the graph holds for that size only, else None.
    """

    variables: tuple[Variable, ...]
    hypers: tuple[Hyper, ...]
    hyper_values: dict[str, HyperValue]
    graph: dict[str, Any] = field(repr=False)
    graph_sha: str
    dtype: str = "float32"
    size: tuple[int, int] | None = None

    @property
    def learning_rate(self) -> float:
        """`lr` of the hyperparameters; 0.01 where a design has none, as in the paper's framework."""
        return float(self.hyper_values.get("lr", DEFAULT_LEARNING_RATE))

    def gradient(self) -> Graph:
        """Return the graph of one step."""
        return self._graphs[0]

    def initial(self) -> dict[str, Graph]:
        """Return variable -> the graph of its initial value."""
        return dict(self._graphs[1])

    @cached_property
    def _graphs(self) -> tuple[Graph, dict[str, Graph]]:
        initial = {name: Graph.from_json(data) for name, data in self.graph["initial"].items()}
        return Graph.from_json(self.graph["gradient"]), initial

    def to_json(self) -> dict[str, Any]:
        """Return the design as JSON values, the form that `from_json` reads."""
        return {
            "variables": [[item.name, list(item.shape), item.low, item.high] for item in self.variables],
            "hypers": [
                [item.name, item.type, item.default, item.low, item.high, list(item.choices)]
                for item in self.hypers
            ],
            "hyper_values": dict(self.hyper_values),
            "graph": self.graph,
            "graph_sha": self.graph_sha,
            "dtype": self.dtype,
            "size": list(self.size) if self.size else None,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> TracedDesign:
        """Return inverse of `to_json`. Raises ValueError when the hash does not fit the content, or a name is
        none."""
        variables = tuple(
            Variable(name, tuple(shape), low, high) for name, shape, low, high in data["variables"]
        )
        hypers = tuple(
            Hyper(name, kind, default, low, high, tuple(choices))
            for name, kind, default, low, high, choices in data["hypers"]
        )
        values = dict(data["hyper_values"])
        names = [item.name for item in (*variables, *hypers)]
        if not all(isinstance(name, str) and NAME.fullmatch(name) for name in names) or len(
            {item.name for item in variables}
        ) != len(variables):
            raise ValueError("a name is letters, digits and underscores, and no two variables share one")
        if data["graph_sha"] != identity(variables, data["graph"], values):
            raise ValueError("graph_sha does not fit the graph")
        size = tuple(data["size"]) if data.get("size") else None
        return cls(variables, hypers, values, data["graph"], data["graph_sha"], data["dtype"], size)


def identity(
    variables: tuple[Variable, ...], graph: dict[str, Any], hyper_values: dict[str, HyperValue]
) -> str:
    """Return the hash of what a design computes: variables in name order, graphs, learning rate."""
    described = sorted([item.name, list(item.shape), item.low, item.high] for item in variables)
    return sha_of(
        {"variables": described, "graph": graph, "lr": float(hyper_values.get("lr", DEFAULT_LEARNING_RATE))}
    )
