"""What a genome of the open grammar does, computed from its expressions alone in NumPy: no file, no trace, no
kernel.

Two uses. `fingerprint` distinguishes designs by behaviour before anything is traced: two steps on fixed
instances from states drawn once for all, as they occur early and late in a run. And as an interpreter that
shares no code with `open_compose`, it is what composed files are held against.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from evolake.designs.genome.open_expression import Expression, Kind
from evolake.designs.model.instances import planted

N, BATCH, SEED, STEPS, DIGITS = 14, 3, 41, 2, 6
BOUNDS = {"v": (-1.0, 1.0), "xl": (1.0, 1e6), "xs": (0.0, 1.0)}
State = dict[str, np.ndarray]


@dataclass(frozen=True)
class Memory:
    """A further state variable: over clauses, over variables, or one number per formula, between bounds, from
    0 on."""

    name: str
    axis: Kind
    low: float
    high: float
    drive: Expression


class Drives(Protocol):
    """The expressions of a genome (`open_genome.OpenGenome`), which is all that a step needs of it."""

    @property
    def memories(self) -> Sequence[Memory]:
        """Return the memories."""
        ...

    def values(self) -> Mapping[str, float]:
        """Return parameter -> value."""
        ...

    def drive(self, slot: str, /) -> Expression:
        """Return the expression of a slot."""
        ...

    def all_drives(self) -> Mapping[str, Expression]:
        """Return slot or memory -> expression."""
        ...


FUNCTIONS: Mapping[str, Callable[..., np.ndarray]] = {
    "neg": np.negative,
    "abs": np.abs,
    "square": np.square,
    "root": lambda a: np.sqrt(np.abs(a)),
    "log": lambda a: np.log1p(np.abs(a)),
    "exp": lambda a: np.exp(np.minimum(a, 10.0)),
    "tanh": np.tanh,
    "sigmoid": lambda a: 0.5 + 0.5 * np.tanh(0.5 * a),
    "relu": lambda a: np.maximum(a, 0.0),
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": lambda a, b: a / (np.abs(b) + 1e-3),
    "min": np.minimum,
    "max": np.maximum,
    "power": lambda a, b: (np.abs(a) + 1e-6) ** np.clip(b, -3.0, 3.0),
}


@functools.lru_cache(256)
def fingerprint(genome: Drives) -> str:
    """Return six digits of fixed projections of the state after two steps; empty where the numbers leave the
    finite. Equal behaviour gives equal text."""
    shown = []
    with np.errstate(all="ignore"):
        for number in range(BATCH):
            idx, sgn = _instances()[number]
            state = _start(number, genome, len(idx))
            for _ in range(STEPS):
                state = stepped(genome, state, idx, sgn)
            shown.append([_projected(state[name], number) for name in ("v", "xl", "xs")])
            shown[-1] += sorted(_projected(state[memory.name], number) for memory in genome.memories)
    flat = [value for of_instance in shown for values in of_instance for value in values]
    if not np.all(np.isfinite(flat)):
        return ""
    return json.dumps([float(f"{value:.{DIGITS}g}") for value in flat])


def stepped(genome: Drives, state: State, idx: np.ndarray, sgn: np.ndarray) -> State:
    """Take one step of the contract's engine on one instance.

    Args:
        state: v (N,), xl and xs (M,), memories (N,) or (M,); one number per formula is (), or (N,) as files
            keep it. idx, sgn: (M, 3).
    """
    literal = state["v"][idx] * sgn
    n, m = len(state["v"]), len(idx)
    u = (1.0 - literal) / 2.0
    ranked = np.sort(u, axis=1)
    winner = np.argmin(u, axis=1)
    best = np.zeros_like(u)
    best[np.arange(m), winner] = 1.0
    rival = np.where(best > 0, ranked[:, 1:2], ranked[:, :1])
    names: dict[str, Any] = dict(state) | {
        "c": ranked[:, 0],
        "second": ranked[:, 1],
        "u": u,
        "best": best,
        "rival": rival,
    }
    names |= {
        memory.name: np.max(state[memory.name]) for memory in genome.memories if memory.axis == "scalar"
    }
    names |= statistics(literal, n) | {name: np.float64(value) for name, value in genome.values().items()}
    force = np.broadcast_to(_lifted(evaluated(genome.drive("force"), names, idx, n)), u.shape)
    pull = np.bincount(idx.ravel(), (sgn * force).ravel(), minlength=n)
    speed = max(np.max(np.abs(pull)), 1e-6)
    names |= {"pull": pull, "drift": pull / speed, "speed": np.float64(speed)}
    drives = {
        slot: evaluated(drive, names, idx, n)
        for slot, drive in genome.all_drives().items()
        if slot != "force"
    }
    pace = float(drives.pop("pace", 1.0))
    scale = pace * genome.values()["lr"] / max(np.max(np.abs(drives["v"])), 1e-6)
    bounds = BOUNDS | {memory.name: (memory.low, memory.high) for memory in genome.memories}
    return {name: np.clip(state[name] + scale * drives[name], *bounds[name]) for name in state}


def statistics(literal: np.ndarray, n: int) -> dict[str, np.float64]:
    """Return the numbers of the whole formula that the force may read. literal: (M, 3)."""
    m, true = len(literal), (literal > 0).sum(axis=1)
    shares = {f"true{number}": np.float64(np.mean(true == number)) for number in range(4)}
    return shares | {
        "variables": np.float64(n),
        "clauses": np.float64(m),
        "ratio": np.float64(m / n),
        "log_variables": np.float64(np.log(n)),
    }


def evaluated(expression: Expression, names: Mapping[str, Any], idx: np.ndarray, n: int) -> Any:
    """Return the value of an expression: 0-d, (M,), (M, 3) or (N,)."""
    if isinstance(expression, str):
        return names[expression]
    if not isinstance(expression, tuple):
        return np.float64(expression)
    operator, *operands = expression
    values = [evaluated(operand, names, idx, n) for operand in operands]
    first = values[0]
    if operator in FUNCTIONS:
        return (
            FUNCTIONS[operator](*values)
            if len({value.ndim for value in values} - {0}) < 2
            else FUNCTIONS[operator](*map(_lifted, values))
        )
    if first.ndim == 0 or (first.ndim == 1 and operator in ("lowest", "highest", "middle")):
        return first
    match operator:
        case "at":
            return first[idx]
        case "lowest":
            return first.min(axis=1)
        case "highest":
            return first.max(axis=1)
        case "middle":
            return first.mean(axis=1)
        case "overall":
            return np.float64(first.mean())
    degree = np.maximum(np.bincount(idx.ravel(), minlength=n), 1)
    return np.bincount(idx.ravel(), np.repeat(first, 3), minlength=n) / degree


def _lifted(value: np.ndarray) -> np.ndarray:
    """Return a clause's number as that of its literals."""
    return value[:, None] if value.ndim == 1 else value


@functools.cache
def _instances() -> list[tuple[np.ndarray, np.ndarray]]:
    made = planted(N, BATCH, SEED)
    return [
        (np.asarray(made.idx[number]), np.asarray(made.sgn[number], dtype=np.float64))
        for number in range(BATCH)
    ]


def _start(number: int, genome: Drives, m: int) -> State:
    """Return a state as it may occur: memories from small to large."""
    random = np.random.default_rng([SEED, number])
    state = {
        "v": random.uniform(-1, 1, N),
        "xl": np.exp(random.uniform(0, 9, m)),
        "xs": random.uniform(0, 1, m),
    }
    for memory in genome.memories:
        extent = {"variable": (N,), "clause": (m,), "scalar": ()}[memory.axis]
        state[memory.name] = np.asarray(random.uniform(memory.low, memory.high, extent))
    return state


def _projected(values: np.ndarray, number: int) -> list[float]:
    values = np.atleast_1d(values)
    random = np.random.default_rng([SEED, number, len(values)])
    return [float(values @ random.uniform(0.5, 1.5, len(values))) for _ in range(2)]
