"""Genomes of designs: a drive for every state variable, as a typed expression of state, aggregates, memories
and parameters.

    force     literal     what a literal is pushed by; summed over clauses, with its sign, it is `pull`
    v         variable    the drive of v, made of `pull`
    xs, xl    clause      the drives of the two memories that every design has
    m1, ...   any but literal   drives of further memory variables, each with its own bounds, from 0 on
    pace      scalar      what the length of a step is multiplied with; a genome without it has 1

Names at hand: `c` unsatisfaction (1 - l)/2 of the clause's best literal, `second` that of the next best, `u`
that of a literal itself, `rival` the least of a literal's two fellows, `best` 1 for the clause's best literal
and 0 for the others, `xs`, `xl`, `v`, the memories, and in the drives of variables also `pull` and `drift`,
pull over the largest |pull|. Numbers of the whole formula: `true3` to `true0`, the shares of clauses with so
many true literals, `variables`, `clauses`, `ratio`, `log_variables`, memories over scalars, and in every
drive but `force` also `speed`, the largest of all |pull|. Nothing in here knows what the paper's designs are
made of.

Time advances by lr / (largest |drive of v|) a step. So what is multiplied by `speed` moves at a rate per step
that depends neither on the size nor on how large xl has grown; without it, a memory slows down as the forces
grow, and at large sizes they grow more.

`BASELINE` is the baseline dynamics; it is where search starts.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from evolake.canonical_json import canonical_json
from evolake.designs.genome.open_behaviour import Memory, fingerprint
from evolake.designs.genome.open_expression import (
    LEAVES,
    REDUCTIONS,
    Expression,
    IllTyped,
    Kind,
    fits,
    heads,
    kind_of,
    leaf_names,
    renamed,
    simplified,
    size,
    substituted,
    tupled,
)
from evolake.errors import InputError

ParameterType = Literal["uniform", "log_uniform", "int"]


@dataclass(frozen=True)
class Parameter:
    """One hyperparameter: its type on the contract's scale, default and closed bounds."""

    name: str
    type: ParameterType
    default: float
    low: float
    high: float


BACKBONE: tuple[Parameter, ...] = (
    Parameter("alpha", "log_uniform", 5.0, 0.5, 50.0),
    Parameter("beta", "log_uniform", 20.0, 2.0, 300.0),
    Parameter("gamma", "uniform", 0.25, 0.02, 0.5),
    Parameter("delta", "uniform", 0.05, 0.005, 0.3),
    Parameter("epsilon", "log_uniform", 1e-3, 1e-4, 5e-2),
    Parameter("zeta", "log_uniform", 1e-3, 1e-4, 1.0),
    Parameter("lr", "log_uniform", 1.0, 0.1, 6.0),
)


def clip(parameter: Parameter, value: float) -> float:
    """Return `value` inside the parameter's bounds; whole for an int."""
    bounded = min(max(value, parameter.low), parameter.high)
    return float(round(bounded)) if parameter.type == "int" else float(bounded)


SLOTS: Mapping[str, Kind] = {"force": "literal", "v": "variable", "xs": "clause", "xl": "clause"}
OPTIONAL: Mapping[str, Kind] = {"pace": "scalar"}
"""Slots that a genome has only where they say something: a pace of 1 is none."""
MEMORY_AXES: tuple[Kind, ...] = ("clause", "variable", "scalar")
FIXED = ("variables", "clauses", "ratio", "log_variables")
"""Numbers of the formula that no step changes."""
MAX_SLOT, MAX_SIZE, MAX_MEMORIES = 120, 320, 9
"""Nodes of one drive and of all together; memory variables. There is room for two designs in turn."""
DRAWN_MEMORIES = 3
"""Memory variables beyond which operators draw no further one."""


@dataclass(frozen=True)
class Constant:
    """A parameter with its value as it runs."""

    parameter: Parameter
    value: float


@dataclass(frozen=True)
class OpenGenome:
    """A design as data. Build with `open_genome`, which brings it into canonical form."""

    drives: tuple[tuple[str, Expression], ...]
    memories: tuple[Memory, ...]
    constants: tuple[Constant, ...]

    def drive(self, slot: str) -> Expression:
        """Return the expression of a slot or of a memory variable."""
        return self.all_drives()[slot]

    def all_drives(self) -> dict[str, Expression]:
        """Return slots and memories, by name, in writing order."""
        return dict(self.drives) | {memory.name: memory.drive for memory in self.memories}

    def kinds(self) -> dict[str, Kind]:
        """Return what each slot and memory is over."""
        given: dict[str, Kind] = {slot: kind for slot, kind in OPTIONAL.items() if slot in dict(self.drives)}
        return {**SLOTS, **given, **{memory.name: memory.axis for memory in self.memories}}

    def values(self) -> dict[str, float]:
        """Return all hyperparameters: what HYPER_SPACE will hold as defaults."""
        return {constant.parameter.name: constant.value for constant in self.constants}

    def parameters(self) -> dict[str, Parameter]:
        """Return name -> parameter."""
        return {constant.parameter.name: constant.parameter for constant in self.constants}

    def size(self) -> int:
        """Return the number of nodes of all drives."""
        return sum(size(result) for result in self.all_drives().values())

    def term_names(self) -> tuple[str, ...]:
        """Return what its drives hold beyond the baseline's, as `slot:name`."""
        features = _features(self)
        return tuple(name for name in vocabulary() if name in features)

    def to_json(self) -> str:
        """Return canonical JSON: equal genomes give equal text."""
        return canonical_json(
            {
                "grammar": "open",
                "drives": dict(self.drives),
                "memories": [
                    [result.name, result.axis, result.low, result.high, result.drive]
                    for result in self.memories
                ],
                "constants": [
                    [p.name, p.type, p.low, p.high, constant.value]
                    for constant in self.constants
                    for p in (constant.parameter,)
                ],
            },
            ascii_only=True,
        )

    def key(self) -> str:
        """Return sha256 of its behaviour on fixed instances; of its JSON, where that is not finite."""
        return hashlib.sha256((fingerprint(self) or self.to_json()).encode()).hexdigest()


def names_at(
    slot: str, kinds: Mapping[str, Kind], memories: Iterable[Memory], constants: Iterable[str]
) -> dict[str, Kind]:
    """Return kinds of the names that the drive of a slot may use."""
    late = ("pull", "drift")
    names: dict[str, Kind] = {
        name: kind for name, kind in LEAVES.items() if kinds[slot] == "variable" or name not in late
    }
    if slot == "force":
        names.pop("speed")
    if slot != "v":
        names.pop("pull", None)
    for memory in memories:
        names[memory.name] = memory.axis
    for name in constants:
        names[name] = "scalar"
    return names


def open_genome(
    drives: Mapping[str, Expression], memories: Iterable[Memory], constants: Iterable[Constant]
) -> OpenGenome:
    """Return the genome in canonical form: simplified, without memories and parameters that nothing reads,
    its names numbered as they appear.

    Raises:
        InputError: a drive is missing, too large, or has no kind that fits its slot.
    """
    if missing := [slot for slot in SLOTS if slot not in drives]:
        raise InputError(f"a design without a drive of {missing[0]}", wanted=f"drives of {', '.join(SLOTS)}")
    memories, constants = list(memories), list(constants)
    every: dict[str, Kind] = {**SLOTS, **OPTIONAL}
    given: dict[str, Kind] = {slot: kind for slot, kind in every.items() if slot in drives}
    kinds: dict[str, Kind] = {**given, **{memory.name: memory.axis for memory in memories}}
    for slot, drive in (
        *((slot, drives[slot]) for slot in given),
        *((memory.name, memory.drive) for memory in memories),
    ):
        _check_kind(slot, drive, kinds, memories, [held.parameter.name for held in constants])
    result = {slot: simplified(drives[slot]) for slot in given}
    if result.get("pace") == 1.0:
        del result["pace"]
    kept = _read(result, [replace(memory, drive=simplified(memory.drive)) for memory in memories])
    everything = [*result.values(), *(memory.drive for memory in kept)]
    used = list(dict.fromkeys(name for expression in everything for name in leaf_names(expression)))
    by_name = {held.parameter.name: held for held in constants}
    fresh = {memory.name: f"m{number}" for number, memory in enumerate(kept, start=1)}
    numbered = [name for name in used if name in by_name and name not in backbone()]
    fresh |= {name: f"k{number}" for number, name in enumerate(numbered, start=1)}

    def name_of(name: str) -> str:
        return fresh.get(name, name)

    made = OpenGenome(
        tuple((slot, renamed(expression, name_of)) for slot, expression in result.items()),
        tuple(
            replace(memory, name=name_of(memory.name), drive=renamed(memory.drive, name_of))
            for memory in kept
        ),
        tuple(_renamed(by_name[name], name_of(name)) for name in _ordered(used, by_name)),
    )
    _check(made)
    return made


def _ordered(used: list[str], by_name: Mapping[str, Constant]) -> list[str]:
    """Return the backbone's names first, `lr` always."""
    return [name for name in backbone() if name == "lr" or (name in used and name in by_name)] + [
        name for name in used if name in by_name and name not in backbone()
    ]


def _renamed(held: Constant, name: str) -> Constant:
    parameter = replace(held.parameter, name=name)
    return Constant(parameter, clip(parameter, float(held.value)))


def _read(drives: Mapping[str, Expression], memories: list[Memory]) -> list[Memory]:
    """Memories that a drive reads, or a memory that is read; in the order they came."""
    by_name = {memory.name: memory for memory in memories}
    waiting, read = list(drives.values()), set[str]()
    while waiting:
        for name in leaf_names(waiting.pop()):
            if name in by_name and name not in read:
                read.add(name)
                waiting.append(by_name[name].drive)
    return [memory for memory in memories if memory.name in read]


def _check(made: OpenGenome) -> None:
    if len(made.memories) > MAX_MEMORIES or made.size() > MAX_SIZE:
        got = f"{len(made.memories)}, {made.size()}"
        raise InputError(
            "a design that is too large", wanted=f"{MAX_MEMORIES} memories and {MAX_SIZE} nodes", got=got
        )
    for slot, expression in made.all_drives().items():
        if size(expression) > MAX_SLOT:
            raise InputError(
                f"the drive of {slot} is too large",
                wanted=f"at most {MAX_SLOT} nodes",
                got=str(size(expression)),
            )
        if slot not in {**SLOTS, **OPTIONAL} and not set(leaf_names(expression)) - {
            slot,
            *made.values(),
            *FIXED,
        }:
            raise InputError(f"the memory {slot} follows nothing", wanted="a drive that reads the state")


def _check_kind(
    slot: str,
    drive: Expression,
    kinds: Mapping[str, Kind],
    memories: Iterable[Memory],
    constants: Iterable[str],
) -> None:
    try:
        kind = kind_of(drive, names_at(slot, kinds, memories, constants))
    except IllTyped as error:
        raise InputError(
            f"the drive of {slot} has no kind: {error}", wanted="an expression of the open grammar"
        ) from None
    if not fits(kind, kinds[slot]):
        raise InputError(f"the drive of {slot} is of a {kind}", wanted=f"one of a {kinds[slot]}")


def read_genome(text: str) -> OpenGenome:
    """Return inverse of `OpenGenome.to_json`. Raises InputError, KeyError, TypeError or ValueError where the
    text is no genome."""
    data: dict[str, Any] = json.loads(text)
    memories = [
        Memory(str(name), _axis(axis), float(low), float(high), tupled(drive))
        for name, axis, low, high, drive in data["memories"]
    ]
    constants = [
        Constant(Parameter(str(name), kind, 0.0, float(low), float(high)), float(value))
        for name, kind, low, high, value in data["constants"]
    ]
    return open_genome({slot: tupled(drive) for slot, drive in data["drives"].items()}, memories, constants)


def _axis(text: Any) -> Kind:
    if text not in MEMORY_AXES:
        raise InputError(f"no memory over {text!r}", wanted=", ".join(MEMORY_AXES))
    return text


def with_values(base: OpenGenome, values: Mapping[str, Any]) -> OpenGenome:
    """Return `base` with other values of parameters that it has."""
    moved = [
        Constant(held.parameter, float(values.get(held.parameter.name, held.value)))
        for held in base.constants
    ]
    return open_genome(dict(base.drives), base.memories, moved)


@functools.cache
def backbone() -> Mapping[str, Parameter]:
    """Return parameters of the baseline dynamics, by name."""
    return {parameter.name: replace(parameter, default=0.0) for parameter in BACKBONE}


BASELINE_DRIVES: Mapping[str, Expression] = {
    "force": (
        "add",
        ("mul", "rival", ("mul", "xl", "xs")),
        ("mul", ("mul", "best", "c"), ("mul", ("add", 1.0, ("mul", "zeta", "xl")), ("sub", 1.0, "xs"))),
    ),
    "v": "pull",
    "xs": ("mul", "beta", ("mul", ("add", "xs", "epsilon"), ("sub", "c", "gamma"))),
    "xl": ("mul", "alpha", ("sub", "c", "delta")),
}


@functools.cache
def baseline() -> OpenGenome:
    """Return the baseline dynamics with their default parameters."""
    return with_backbone({parameter.name: parameter.default for parameter in BACKBONE})


def with_backbone(values: Mapping[str, float]) -> OpenGenome:
    """Return the baseline dynamics with other parameters."""
    return open_genome(
        BASELINE_DRIVES, (), [Constant(parameter, values[name]) for name, parameter in backbone().items()]
    )


def simpler(base: OpenGenome) -> tuple[OpenGenome, str] | None:
    """Return `base` without its last memory, else with the baseline's drive in its last slot that has
    another; and what went. None: it has neither."""
    plain = baseline()
    constants = [
        *base.constants,
        *(held for held in plain.constants if held.parameter.name not in base.values()),
    ]
    if base.memories:
        gone = base.memories[-1]
        drives = {slot: cleared(drive, gone.name) for slot, drive in base.drives}
        kept = [replace(memory, drive=cleared(memory.drive, gone.name)) for memory in base.memories[:-1]]
        return open_genome(drives, kept, constants), f"the memory {gone.name}"
    if "pace" in dict(base.drives):
        return open_genome({slot: base.drive(slot) for slot in SLOTS}, (), constants), "the pace"
    slot = next((slot for slot in reversed(list(SLOTS)) if base.drive(slot) != plain.drive(slot)), None)
    return (
        None
        if slot is None
        else (
            open_genome(dict(base.drives) | {slot: plain.drive(slot)}, (), constants),
            f"the drive of {slot}",
        )
    )


def cleared(expression: Expression, name: str) -> Expression:
    """Return the expression with 0 in the place of a name."""
    return substituted(expression, {name: 0.0})


@functools.cache
def vocabulary() -> tuple[str, ...]:
    """Return every feature that a genome may be shown by: what a drive may hold beyond the baseline's, and
    memories."""
    from evolake.designs.genome.open_expression import FUNCTIONS

    known = {slot: heads(simplified(drive)) for slot, drive in BASELINE_DRIVES.items()}
    names = [
        f"{slot}:{name}"
        for slot in SLOTS
        for name in (*names_at(slot, SLOTS, (), ()), *FUNCTIONS, "div", "min", "max", "power", *REDUCTIONS)
        if name not in known[slot]
    ]
    return (*names, *(f"memory:{axis}" for axis in MEMORY_AXES))


def _features(result: OpenGenome) -> set[str]:
    features = {f"{slot}:{name}" for slot, drive in result.drives for name in heads(drive)}
    return features | {f"memory:{memory.axis}" for memory in result.memories}
