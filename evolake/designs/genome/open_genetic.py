"""Genetic operators of the open grammar: typed changes of one drive, and crossover of typed subexpressions.

    insert      a place becomes itself combined with something new: plus, minus, times 1 + k e, blended
    subtree     a place becomes something new of the same kind           point        another operator of the same arity at a place
    hoist       a place becomes one of its operands                       constants    some parameters, each on its own scale
    gate        a term becomes itself times a fresh slow memory in (0, 1), or times what that lacks of 1
    guarded     a drive gets one more summand, which has such a gate from the beginning
    add_memory  one more state variable with its own drive, and a place that reads it        drop_memory  one less
    crossover   a place becomes what a second parent has at a place of that kind, or a whole drive of it
    switch      one parent until a clock has run out, then the other (`open_switch`)

Every child is in canonical form, finite on the fixed instances, and behaves like no design that is known.
Nothing is drawn in pairs, and nothing has its own name: what a child is made of are the names and operators
of `open_expression`.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evolake.designs.genome.open_behaviour import fingerprint
from evolake.designs.genome.open_compose import compose
from evolake.designs.genome.open_draw import Drawing
from evolake.designs.genome.open_expression import (
    ARITHMETIC,
    FUNCTIONS,
    Expression,
    IllTyped,
    Kind,
    Path,
    fits,
    kind_of,
    places,
    renamed,
    replaced,
    size,
)
from evolake.designs.genome.open_genome import (
    DRAWN_MEMORIES,
    MEMORY_AXES,
    Constant,
    Memory,
    OpenGenome,
    Parameter,
    backbone,
    cleared,
    names_at,
    open_genome,
    with_values,
)
from evolake.designs.genome.open_switch import switched
from evolake.designs.genome.variation import (
    Child,
    Parent,
    Scale,
    perturbed_values,
    propose_perturbed,
    short_title,
)
from evolake.errors import InputError

OPERATORS = (
    "insert",
    "guarded",
    "subtree",
    "point",
    "hoist",
    "constants",
    "gate",
    "add_memory",
    "drop_memory",
    "crossover",
    "switch",
)
OF_TWO = ("crossover", "switch")
"""Operators that need a second parent."""
OPERATOR_ODDS: Mapping[str, float] = {
    "insert": 0.17,
    "guarded": 0.1,
    "subtree": 0.07,
    "point": 0.05,
    "hoist": 0.05,
    "constants": 0.25,
    "gate": 0.06,
    "add_memory": 0.05,
    "drop_memory": 0.02,
    "crossover": 0.16,
    "switch": 0.02,
}
TRIES = 60
DEPTH = 3
Made = tuple[OpenGenome, str, str]
BOUNDS = ((0.0, 1.0), (-1.0, 1.0))
MEMORY_ODDS = (0.6, 0.25, 0.15)
"""Of clause, variable and scalar."""
GATE_AXES, GATE_AXIS_ODDS = ("scalar", "clause", "variable"), (0.6, 0.2, 0.2)
TERM_ODDS = 0.7
"""How likely a gate is put before a summand of a drive, and not before any place."""
RATES = {"per step": 0.5, "per step and ln N": 0.25, "in the time of the design": 0.25}
"""How the speed of a gate's memory is drawn. What is counted in steps does not slow down where forces are
large, as they are at large sizes."""


def scales_of(result: OpenGenome) -> tuple[Scale, ...]:
    """Return scales of a genome's parameters."""
    return tuple(Scale(p.name, p.type, p.low, p.high) for p in result.parameters().values())


def parent_of(design_id: str, title: str, genome: OpenGenome) -> Parent:
    """Return a parent straight from a genome."""
    return Parent(design_id, title, compose(genome, title), genome.values(), scales_of(genome), genome)


def propose(
    parents: Sequence[Parent],
    taken: Collection[str],
    random: np.random.Generator,
    *,
    operator: str | None = None,
    focus: Sequence[str] = (),
) -> Child | None:
    """Return one child of `parents[0]`, or None if `TRIES` tries gave only what is in `taken`.

    Args:
        parents: at least one; the first is varied, the others are donors. A first one without a genome is
            perturbed.
        taken: keys (`design_key`) of every design already known.
        operator: the one to try first; others follow when it cannot apply.
        focus: features (`OpenGenome.term_names`) to prefer in what is drawn.
    """
    first = parents[0]
    if first.genome is None:
        return propose_perturbed(first, taken, random, operator=operator)
    donors = [
        other for other in parents[1:] if other.genome is not None and other.design_id != first.design_id
    ]
    for attempt in range(TRIES):
        early = attempt < TRIES // 2
        name = (
            operator
            if operator in OPERATORS and early
            else str(random.choice(list(OPERATOR_ODDS), p=list(OPERATOR_ODDS.values())))
        )
        child = _apply(str(name), first, first.genome, donors, random, tuple(focus) if early else ())
        if (
            child is not None
            and child.genome is not None
            and fingerprint(child.genome)
            and child.key() not in taken
        ):
            return child
    return None


def _apply(
    name: str,
    first: Parent,
    base: OpenGenome,
    donors: Sequence[Parent],
    random: np.random.Generator,
    focus: tuple[str, ...],
) -> Child | None:
    weights: tuple[tuple[str, float], ...] = ((first.design_id, 1.0),)
    try:
        if name in CROSSINGS:
            if not donors:
                return None
            donor = donors[int(random.integers(len(donors)))]
            assert donor.genome is not None
            result = CROSSINGS[name](base, donor.genome, random)
            if result is None:
                return None
            made, title, why, given = result
            share = min(given / made.size(), 1.0)
            weights = tuple(
                (design_id, weight)
                for design_id, weight in ((first.design_id, 1.0 - share), (donor.design_id, share))
                if weight > 0
            )
            why = f"{why} From {donor.title}."
        else:
            changes: dict[str, Callable[[OpenGenome, np.random.Generator, tuple[str, ...]], Made | None]] = {
                "insert": _insert,
                "subtree": _subtree,
                "point": _point,
                "hoist": _hoist,
                "constants": _constants,
                "gate": _gate,
                "guarded": _guarded,
                "add_memory": _add_memory,
                "drop_memory": _drop_memory,
            }
            changed = changes[name](base, random, focus)
            if changed is None:
                return None
            made, title, why = changed
    except InputError:  # too large, or a memory that nothing reads any more: another try
        return None
    short = short_title(title, first.design_id)
    return Child(compose(made, short, why), {}, made, name, weights, short, why)


def _place(
    base: OpenGenome, random: np.random.Generator, focus: tuple[str, ...], least: int = 1
) -> tuple[str, Path, Expression, Drawing] | None:
    """Return a place of a drive, with what may be drawn there. Drives in focus come first half of the time.
    least: nodes at the place."""
    wanted = [term.partition(":") for term in focus]
    kinds = base.kinds()
    slots = [slot for slot in kinds if any(size(result) >= least for _, result in places(base.drive(slot)))]
    preferred = [slot for slot in slots if any(slot == named for named, _, _ in wanted)]
    if not slots:
        return None
    among = preferred if preferred and random.random() < 0.5 else slots
    slot = among[int(random.integers(len(among)))]
    results = [(path, held) for path, held in places(base.drive(slot)) if size(held) >= least]
    path, held = results[int(random.integers(len(results)))]
    names = names_at(slot, kinds, base.memories, base.values())
    at_hand: dict[str, Kind] = {name: kind for name, kind in names.items() if name not in backbone()}
    return slot, path, held, Drawing(random, at_hand, {name for named, _, name in wanted if named == slot})


def _with(
    base: OpenGenome,
    slot: str,
    drive: Expression,
    fresh: Sequence[Constant] = (),
    memories: Sequence[Memory] = (),
) -> OpenGenome:
    """Return `base` with another drive of a slot or memory."""
    drives = {name: drive if name == slot else held for name, held in base.drives}
    held = [
        Memory(m.name, m.axis, m.low, m.high, drive if m.name == slot else m.drive)
        for m in (*base.memories, *memories)
    ]
    return open_genome(drives, held, [*base.constants, *fresh])


def _kind_at(base: OpenGenome, slot: str, expression: Expression) -> Kind:
    return kind_of(expression, names_at(slot, base.kinds(), base.memories, base.values()))


def _insert(base: OpenGenome, random: np.random.Generator, focus: tuple[str, ...]) -> Made | None:
    chosen = _place(base, random, focus)
    if chosen is None:
        return None
    slot, path, held, drawing = chosen
    kind = _kind_at(base, slot, held)
    new = drawing.expression(
        kind if kind != "scalar" else base.kinds()[slot], 1 + int(random.integers(DEPTH))
    )
    return _combined(base, slot, path, held, new, drawing, (), random)


def _guarded(base: OpenGenome, random: np.random.Generator, focus: tuple[str, ...]) -> Made | None:
    """Return a whole drive plus or minus something new that a fresh slow memory lets in: what helps on one
    kind of formulas need not harm on another."""
    chosen = _place(base, random, focus)
    if chosen is None or (gate := _fresh_gate(base, chosen[0], random, focus)) is None:
        return None
    slot, _, _, drawing = chosen
    drawing.fresh.extend(gate.drawing.fresh)
    new = drawing.expression(base.kinds()[slot], 1 + int(random.integers(DEPTH)))
    term = ("mul", ("mul", drawing.constant(float(np.exp(random.normal(-1.5, 1.2)))), new), gate.reader)
    written = ("add" if random.random() < 0.5 else "sub", base.drive(slot), term)
    made = _fitting(base, slot, written, drawing, [gate.memory])
    when = "as" if gate.opens else "unless"
    why = (
        f"The drive of {slot} gets the term {shown(new)}, which counts {when} a slow memory is near 1 "
        f"that watches {shown(gate.watched)}."
    )
    return None if made is None else (made, f"guarded term in {slot}", why)


def _combined(
    base: OpenGenome,
    slot: str,
    path: Path,
    held: Expression,
    new: Expression,
    drawing: Drawing,
    memories: Sequence[Memory],
    random: np.random.Generator,
) -> Made | None:
    """Return a place combined with something new, weakly enough that what was there still counts."""
    weight = drawing.constant(float(np.exp(random.normal(-1.5, 1.2))))
    form = int(random.integers(5))
    written: Expression = (
        ("add", held, ("mul", weight, new)),
        ("sub", held, ("mul", weight, new)),
        ("mul", held, ("add", 1.0, ("mul", weight, new))),
        ("div", held, ("add", 1.0, ("mul", weight, ("abs", new)))),
        ("mul", held, new),
    )[form]
    made = _fitting(base, slot, replaced(base.drive(slot), path, written), drawing, memories)
    how = ("plus", "minus", "times 1 plus", "over 1 plus", "times")[form]
    return (
        None
        if made is None
        else (
            made,
            f"insert into {slot}",
            f"In the drive of {slot}, {shown(held)} becomes itself {how} {shown(new)}.",
        )
    )


def _fitting(
    base: OpenGenome, slot: str, drive: Expression, drawing: Drawing, memories: Sequence[Memory] = ()
) -> OpenGenome | None:
    """Return `base` with the drive, if its kind fits the slot."""
    axes: dict[str, Kind] = {**base.kinds(), **{memory.name: memory.axis for memory in memories}}
    names = names_at(
        slot,
        axes,
        (*base.memories, *memories),
        [*base.values(), *(held.parameter.name for held in drawing.fresh)],
    )
    try:
        good = fits(kind_of(drive, names), axes[slot])
    except IllTyped:
        return None
    return _with(base, slot, drive, drawing.fresh, memories) if good else None


def _subtree(base: OpenGenome, random: np.random.Generator, focus: tuple[str, ...]) -> Made | None:
    chosen = _place(base, random, focus)
    if chosen is None:
        return None
    slot, path, held, drawing = chosen
    new = drawing.expression(_kind_at(base, slot, held), int(random.integers(DEPTH + 1)))
    made = _fitting(base, slot, replaced(base.drive(slot), path, new), drawing)
    return (
        None
        if made is None
        else (made, f"another part of {slot}", f"In the drive of {slot}, {shown(held)} becomes {shown(new)}.")
    )


def _point(base: OpenGenome, random: np.random.Generator, focus: tuple[str, ...]) -> Made | None:
    chosen = _place(base, random, focus, least=2)
    if chosen is None:
        return None
    slot, path, held, drawing = chosen
    alike = next((group for group in (FUNCTIONS, ARITHMETIC) if held[0] in group), ())
    others = [name for name in alike if name != held[0]]
    if not others:
        return None
    new = (drawing.pick(others), *held[1:])
    made = _fitting(base, slot, replaced(base.drive(slot), path, new), drawing)
    return (
        None
        if made is None
        else (
            made,
            f"{held[0]} to {new[0]} in {slot}",
            f"In the drive of {slot}, {shown(held)} becomes {shown(new)}.",
        )
    )


def _hoist(base: OpenGenome, random: np.random.Generator, focus: tuple[str, ...]) -> Made | None:
    chosen = _place(base, random, focus, least=2)
    if chosen is None:
        return None
    slot, path, held, drawing = chosen
    new = held[1 + int(random.integers(len(held) - 1))]
    made = _fitting(base, slot, replaced(base.drive(slot), path, new), drawing)
    return (
        None
        if made is None
        else (made, f"less in {slot}", f"In the drive of {slot}, {shown(held)} becomes {shown(new)}.")
    )


def _constants(base: OpenGenome, random: np.random.Generator, focus: tuple[str, ...]) -> Made | None:
    moved = perturbed_values(base.values(), scales_of(base), random)
    changed = [name for name, value in moved.items() if value != base.values()[name]]
    return (
        (
            with_values(base, moved),
            "constants " + ", ".join(changed),
            f"Moves {', '.join(changed)}, each on its own scale.",
        )
        if changed
        else None
    )


@dataclass(frozen=True)
class _Gate:
    """A fresh slow memory in (0, 1), what it is made of, what reads it at a place, and whether it opens or
    closes as the memory grows."""

    memory: Memory
    drawing: Drawing
    reader: Expression
    opens: bool
    watched: Expression


def _fresh_gate(
    base: OpenGenome, slot: str, random: np.random.Generator, focus: tuple[str, ...]
) -> _Gate | None:
    """Return a memory that moves slowly towards 1 where what it watches is above a threshold (or below it),
    and towards 0 elsewhere."""
    if len(base.memories) >= DRAWN_MEMORIES:
        return None
    axis: Kind = str(random.choice(GATE_AXES, p=GATE_AXIS_ODDS))  # pyright: ignore[reportAssignmentType]
    name = "fresh_memory"
    at_hand = names_at(
        name, {**base.kinds(), name: axis}, (*base.memories, Memory(name, axis, 0.0, 1.0, 0.0)), base.values()
    )
    wanted = {held for named, _, held in (part.partition(":") for part in focus) if named == slot}
    drawing = Drawing(
        random,
        {known: kind for known, kind in at_hand.items() if known not in backbone() and known != name},
        wanted,
    )
    watched = drawing.expression(axis, int(random.integers(2)))
    sharpness, threshold = (
        drawing.constant(float(np.exp(random.normal(3.0, 1.2)))),
        drawing.constant(float(np.exp(random.normal(-1.8, 0.9)))),
    )
    way = ("sub", watched, threshold) if random.random() < 0.5 else ("sub", threshold, watched)
    rate: Expression = drawing.constant(float(np.exp(random.normal(-5.0, 1.5))))
    counted = str(random.choice(list(RATES), p=list(RATES.values())))
    if counted != "in the time of the design":
        rate = ("mul", rate, "speed")
    if counted == "per step and ln N":
        rate = ("div", rate, "log_variables")
    memory = Memory(name, axis, 0.0, 1.0, ("mul", rate, ("sub", ("sigmoid", ("mul", sharpness, way)), name)))
    reader: Expression = ("at", name) if base.kinds()[slot] == "literal" and axis == "variable" else name
    opens = bool(random.random() < 0.5)
    return _Gate(memory, drawing, reader if opens else ("sub", 1.0, reader), opens, watched)


def _gate(base: OpenGenome, random: np.random.Generator, focus: tuple[str, ...]) -> Made | None:
    """Return a term times a fresh slow memory."""
    slots = [slot for slot in base.kinds() if slot in dict(base.drives)]
    slot = slots[int(random.integers(len(slots)))]
    term, gate = _term(base.drive(slot), random), _fresh_gate(base, slot, random, focus)
    if gate is None or term is None:
        return None
    path, held = term
    made = _fitting(
        base, slot, replaced(base.drive(slot), path, ("mul", held, gate.reader)), gate.drawing, [gate.memory]
    )
    when = "as" if gate.opens else "unless"
    why = (
        f"In the drive of {slot}, {shown(held)} counts {when} a slow memory is near 1 that watches "
        f"{shown(gate.watched)}."
    )
    return None if made is None else (made, f"gate in {slot}", why)


def _term(drive: Expression, random: np.random.Generator) -> tuple[Path, Expression] | None:
    """Return a place for a gate: mostly a whole drive or an operand of a sum or difference in it."""
    everywhere = list(places(drive))
    sums = {path for path, held in everywhere if isinstance(held, tuple) and held[0] in ("add", "sub")}
    terms = [
        (path, held)
        for path, held in everywhere
        if (not path or path[:-1] in sums) and isinstance(held, tuple | str)
    ]
    among = (
        terms
        if random.random() < TERM_ODDS
        else [(path, held) for path, held in everywhere if not isinstance(held, float)]
    )
    return among[int(random.integers(len(among)))] if among else None


def _add_memory(base: OpenGenome, random: np.random.Generator, focus: tuple[str, ...]) -> Made | None:
    if len(base.memories) >= DRAWN_MEMORIES:
        return None
    wanted = [term.partition(":")[2] for term in focus if term.startswith("memory:")]
    drawn = (
        wanted[int(random.integers(len(wanted)))]
        if wanted
        else str(random.choice(MEMORY_AXES, p=MEMORY_ODDS))
    )
    axis: Kind = next(axis for axis in MEMORY_AXES if axis == drawn)
    name = "fresh_memory"
    low, high = BOUNDS[int(random.integers(len(BOUNDS)))]
    empty = Memory(name, axis, low, high, 0.0)
    kinds: dict[str, Kind] = {**base.kinds(), name: axis}
    at_hand = names_at(name, kinds, (*base.memories, empty), base.values())
    names: dict[str, Kind] = {held: kind for held, kind in at_hand.items() if held not in backbone()}
    drawing = Drawing(random, names)
    followed = drawing.expression(axis, int(random.integers(DEPTH)))
    rate = drawing.constant(float(np.exp(random.normal(0.0, 2.0))))
    leaks = random.random() < 0.7
    memory = Memory(name, axis, low, high, ("mul", rate, ("sub", followed, name) if leaks else followed))
    readers = {
        "clause": ("clause", "literal"),
        "variable": ("variable", "literal"),
        "scalar": ("clause", "variable", "literal"),
    }[axis]
    slots = [slot for slot, kind in base.kinds().items() if kind in readers]
    slot = slots[int(random.integers(len(slots)))]
    result = [(path, held) for path, held in places(base.drive(slot))]
    path, held = result[int(random.integers(len(result)))]
    reader: Expression = ("at", name) if base.kinds()[slot] == "literal" and axis == "variable" else name
    made = _combined(base, slot, path, held, reader, drawing, [memory], random)
    if made is None:
        return None
    verb = "follows" if leaks else "adds up"
    return made[0], f"memory in {slot}", f"A memory over each {axis} that {verb} {shown(followed)}. {made[2]}"


def _drop_memory(base: OpenGenome, random: np.random.Generator, focus: tuple[str, ...]) -> Made | None:
    if not base.memories:
        return None
    gone = base.memories[int(random.integers(len(base.memories)))].name
    drives = {slot: cleared(drive, gone) for slot, drive in base.drives}
    kept = [
        Memory(m.name, m.axis, m.low, m.high, cleared(m.drive, gone)) for m in base.memories if m.name != gone
    ]
    return (
        open_genome(drives, kept, base.constants),
        f"drop {gone}",
        f"Sets the memory {gone} to 0 wherever it was read.",
    )


def _crossover(
    base: OpenGenome, donor: OpenGenome, random: np.random.Generator
) -> tuple[OpenGenome, str, str, int] | None:
    """Return `base` with one place replaced by a part of `donor` of that kind, with the memories that it
    reads; and how many nodes were given."""
    theirs_too = dict(donor.drives)
    slots = [slot for slot, drive in base.drives if drive != theirs_too.get(slot, drive)]
    if not slots:
        return (
            with_values(base, donor.values()),
            "values of another",
            "Its drives, with a second parent's parameters.",
            max(1, base.size() // 2),
        )
    slot = slots[int(random.integers(len(slots)))]
    theirs = list(places(donor.drive(slot)))
    given, at = (donor.drive(slot), ()) if random.random() < 0.4 else (None, None)
    if given is None:
        kinds = names_at(slot, donor.kinds(), donor.memories, donor.values())
        given = theirs[int(random.integers(len(theirs)))][1]
        wanted = kind_of(given, kinds)
        at = _same_kind(base, slot, wanted, random)
    if at is None:
        return None
    # the donor's names get names of their own, but those of the backbone: these have the values of the first
    # parent
    own = {
        name: f"given_{name}"
        for name in (*donor.values(), *(memory.name for memory in donor.memories))
        if name not in backbone()
    }

    def name_of(name: str) -> str:
        return own.get(name, name)

    memories = [
        Memory(name_of(m.name), m.axis, m.low, m.high, renamed(m.drive, name_of)) for m in donor.memories
    ]
    lacking = [
        held
        for held in donor.constants
        if held.parameter.name in backbone() and held.parameter.name not in base.values()
    ]
    others = [held for held in donor.constants if held.parameter.name not in backbone()]
    constants = [Constant(_named(held, name_of(held.parameter.name)), held.value) for held in others]
    drive = replaced(base.drive(slot), at, renamed(given, name_of))
    made = _with(base, slot, drive, [*constants, *lacking], memories)
    return (
        made,
        f"cross {slot}",
        f"In the drive of {slot} stands {shown(given)} of a second parent.",
        size(given),
    )


CROSSINGS: Mapping[
    str, Callable[[OpenGenome, OpenGenome, np.random.Generator], tuple[OpenGenome, str, str, int] | None]
] = {"crossover": _crossover, "switch": switched}
"""Operators that need a second parent."""


def _named(held: Constant, name: str) -> Parameter:
    return replace(held.parameter, name=name)


def _same_kind(base: OpenGenome, slot: str, wanted: Kind, random: np.random.Generator) -> Path | None:
    result = [path for path, held in places(base.drive(slot)) if _kind_at(base, slot, held) == wanted]
    return result[int(random.integers(len(result)))] if result else None


def shown(expression: Expression, most: int = 160) -> str:
    """Return an expression for people."""

    def text(part: Expression) -> str:
        if not isinstance(part, tuple):
            return f"{part:g}" if isinstance(part, float) else str(part)
        signs = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
        if part[0] in signs:
            return f"({text(part[1])} {signs[part[0]]} {text(part[2])})"
        return f"{part[0]}({', '.join(text(operand) for operand in part[1:])})"

    whole = text(expression)
    return whole if len(whole) <= most else whole[: most - 3] + "..."
