"""The operator `switch` of the open grammar: a child that is one parent until a clock has run out, and the
other from then on.

Two designs that are each good at one kind of formulas make one that is good at both, if the first is fast
enough: what it does not solve by then, the second takes over. It is a schedule of algorithms in one design,
as portfolios of SAT solvers have them (Gomes and Selman, Algorithm portfolios, Artificial Intelligence 126,
2001). The variables are handed over as they are. The memories of the second design, `xl` and `xs` among them,
are its own and stay as they begin until its turn: what the first has written into them would mislead it.

The clock is a memory between 0 and 1 whose drive is a rate times (start + clock) squared: it stays near 0
for nearly all of its time and then reaches 1 within a few steps. It is multiplied by `speed`, so it counts
steps (`open_genome`). The start is small, since drives are mixed by the clock, and those with `xl` are large.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from evolake.designs.genome.open_behaviour import BOUNDS
from evolake.designs.genome.open_expression import Expression, renamed, size, substituted
from evolake.designs.genome.open_genome import (
    SLOTS,
    Constant,
    Memory,
    OpenGenome,
    Parameter,
    backbone,
    open_genome,
)
from evolake.designs.genome.variation import rounded

CLOCK = "fresh_memory"
START = 1e-5
STEPS, SPREAD = 500.0, 0.9
"""How many steps a drawn clock takes: median and spread of the logarithm."""
WITH_SIZE = 0.5
"""How often a clock takes as many times more steps as ln N is larger than that of MIDDLE_SIZE."""
MIDDLE_SIZE = 320
SHARED = 0.5
"""How often the donor's parameters of the baseline dynamics have the values of the first parent."""
SPAN = 100.0
OWN = {"xl": "fresh_xl", "xs": "fresh_xs"}
"""Slot -> name of the memory that the second design has in its place."""


def switched(
    base: OpenGenome, donor: OpenGenome, random: np.random.Generator
) -> tuple[OpenGenome, str, str, int] | None:
    """Return `base` before and `donor` after a switch, or the other way round; a title, a reason, and the
    number of nodes that the donor gave. None if both have the same drives.

    Terms that both have in a drive are written once and count all the time. Steps are as long as each
    parent's in its turn.

    Raises:
        InputError: it is too large, or has too many memories.
    """
    theirs, constants, memories = _donated(base, donor, shared=bool(random.random() < SHARED))
    base_first = bool(random.random() < 0.5)
    given = sum(size(theirs[slot]) for slot in SLOTS if base.drive(slot) != theirs[slot])
    if not given:
        return None
    parts = [(dict(base.drives), list(base.memories)), (theirs, memories)]
    (early, early_memories), late = parts if base_first else reversed(parts)
    waiting, late_memories = _waiting(*late)
    drives: dict[str, Expression] = {
        slot: early[slot] if slot in OWN else blended(early[slot], waiting[slot], CLOCK) for slot in SLOTS
    }
    paces = [early.get("pace", 1.0), waiting.get("pace", 1.0)]
    ratio = rounded(donor.values()["lr"] / base.values()["lr"])
    if ratio != 1.0:
        constants.append(Constant(_around("fresh_pace", ratio), ratio))
        paces[base_first] = ("mul", paces[base_first], "fresh_pace")
    if paces[0] != paces[1]:
        drives["pace"] = blended(paces[0], paces[1], CLOCK)
    steps = float(np.exp(random.normal(np.log(STEPS), SPREAD)))
    grows = bool(random.random() < WITH_SIZE)
    clock, rate = _clock(steps, (base if base_first else donor).values()["lr"], grows=grows)
    made = open_genome(drives, [*early_memories, *late_memories, clock], [*base.constants, *constants, rate])
    first, second = ("itself", "the other") if base_first else ("the other", "itself")
    why = (
        f"It is {first} for some {steps:.0f} steps{' (more as ln N grows)' if grows else ''}, then "
        f"{second}: a schedule of two designs."
    )
    return made, "switch", why, max(1, min(given, made.size() // 2))


def _waiting(
    drives: Mapping[str, Expression], memories: Sequence[Memory]
) -> tuple[dict[str, Expression], list[Memory]]:
    """Return the drives and memories of a design whose memories are its own and wait for the clock."""
    names: Mapping[str, Expression] = {"xl": ("add", 1.0, OWN["xl"]), "xs": OWN["xs"]}
    own = [
        Memory(OWN["xl"], "clause", 0.0, BOUNDS["xl"][1], drives["xl"]),
        Memory(OWN["xs"], "clause", *BOUNDS["xs"], drives["xs"]),
    ]
    waiting = [
        replace(memory, drive=("mul", substituted(memory.drive, names), CLOCK))
        for memory in (*memories, *own)
    ]
    return {slot: substituted(drive, names) for slot, drive in drives.items()}, waiting


def blended(early: Expression, late: Expression, clock: str) -> Expression:
    """Return a drive that is `early` while `clock` is 0 and `late` when it is 1. Summands that both have stay
    outside."""
    ours, theirs = Counter(_summands(early)), Counter(_summands(late))
    both = ours & theirs
    parts = [
        _total(both),
        _times(_total(ours - both), ("sub", 1.0, clock)),
        _times(_total(theirs - both), clock),
    ]
    result: Expression | None = None
    for part in parts:
        if part is not None:
            result = part if result is None else ("add", result, part)
    return 0.0 if result is None else result


def _summands(expression: Expression, sign: int = 1) -> list[tuple[int, Expression]]:
    """Return (1 or -1, summand) of a sum of sums and differences."""
    if isinstance(expression, tuple) and expression[0] in ("add", "sub"):
        second = -sign if expression[0] == "sub" else sign
        return [*_summands(expression[1], sign), *_summands(expression[2], second)]
    return [(sign, expression)]


def _total(summands: Counter[tuple[int, Expression]]) -> Expression | None:
    """Return the sum of signed summands; None if there are none."""
    result: Expression | None = None
    for sign, summand in sorted(summands.elements(), key=lambda item: (-item[0], repr(item[1]))):
        if result is None:
            result = summand if sign > 0 else ("neg", summand)
        else:
            result = ("add" if sign > 0 else "sub", result, summand)
    return result


def _times(expression: Expression | None, factor: Expression) -> Expression | None:
    return None if expression is None else ("mul", expression, factor)


def _donated(
    base: OpenGenome, donor: OpenGenome, *, shared: bool
) -> tuple[dict[str, Expression], list[Constant], list[Memory]]:
    """Return the donor's drives, parameters and memories under names that `base` does not have. shared: its
    parameters of the baseline dynamics are those of `base`, where `base` has them."""
    ours, parameters = base.values(), base.parameters()
    names: dict[str, str] = {memory.name: f"given_{memory.name}" for memory in donor.memories}
    constants = []
    for held in donor.constants:
        name = held.parameter.name
        if name == "lr":
            continue
        if name in backbone() and name in parameters and (shared or ours[name] == held.value):
            continue
        own = name in backbone() and name not in parameters
        names[name] = name if own else f"given_{name}"
        constants.append(Constant(replace(held.parameter, name=names[name]), held.value))

    def name_of(name: str) -> str:
        return names.get(name, name)

    drives = {slot: renamed(drive, name_of) for slot, drive in donor.drives}
    memories = [
        Memory(name_of(m.name), m.axis, m.low, m.high, renamed(m.drive, name_of)) for m in donor.memories
    ]
    return drives, constants, memories


def _around(name: str, value: float) -> Parameter:
    return Parameter(name, "log_uniform", 0.0, rounded(value / SPAN), rounded(value * SPAN))


def _clock(steps: float, lr: float, *, grows: bool) -> tuple[Memory, Constant]:
    """Return a memory that is near 1 after so many steps, and the parameter that is its rate."""
    rate = rounded(1.0 / (START * steps * lr) * (np.log(MIDDLE_SIZE) if grows else 1.0))
    held = Constant(_around("fresh_rate", rate), rate)
    per_step: Expression = ("div", "fresh_rate", "log_variables") if grows else "fresh_rate"
    drive = ("mul", ("mul", per_step, "speed"), ("square", ("add", START, CLOCK)))
    return Memory(CLOCK, "scalar", 0.0, 1.0, drive), held
