"""Genetic operators of the paper's grammar on designs (`genome.open_genetic` has those of the open one).

    add_gate   one more term (the first gate of a release comes with a memory gate or a window, else it would
               fire everywhere)
    drop_gate  one term less                swap     one term for another of the same slot
    graft      terms of a second parent     perturb  some parameters, each on its own scale

A child states the share that each parent gave it (`inherited_shares`): those are the reference weights of the
graph search, and they sum to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np

from evolake.designs.genome.parameters import Parameter
from evolake.designs.genome.values import STEP, Scale, moved_value, perturbed_values
from evolake.designs.genome.variation import TRIES, Child, Parent, short_title
from evolake.designs.grammars.paper_genome.compose import compose
from evolake.designs.grammars.paper_genome.genome import KAPPA, PaperGenome, genome, kinds, scales_of, without

OPERATORS = ("add_gate", "drop_gate", "swap", "graft", "perturb")
OPERATOR_ODDS = {"add_gate": 0.3, "drop_gate": 0.1, "swap": 0.15, "graft": 0.2, "perturb": 0.25}
OPENING_GATES = (
    ("xl_gate", "weak_band"),
    ("xl_gate", "push_up"),
    ("xl_gate", "one_sided"),
    ("near_gamma", "push_up"),
)


def propose(
    parents: Sequence[Parent],
    taken: Collection[str],
    random: np.random.Generator,
    *,
    operator: str | None = None,
    focus: Sequence[str] = (),
) -> Child | None:
    """Return one child of `parents[0]` (the others are donors for `graft`), or None when `TRIES` tries gave
    only what is in `taken`.

    Args:
        parents: at least one; the first is varied.
        taken: keys (`design_key`) of every design already known.
        operator: the one to try first; others follow when it cannot apply.
        focus: kinds of terms to prefer when a term is added or swapped in.
    """
    first = parents[0]
    donors = [
        other
        for other in parents[1:]
        if isinstance(other.genome, PaperGenome) and other.design_id != first.design_id
    ]
    for attempt in range(TRIES):
        name = operator if operator in OPERATORS and attempt < TRIES // 2 else _draw_operator(random)
        child = _apply(str(name), first, donors, random, tuple(focus) if attempt < TRIES // 2 else ())
        if child is not None and child.key() not in taken:
            return child
    return None


def inherited_shares(
    child: PaperGenome, parents: Sequence[tuple[str, PaperGenome]]
) -> tuple[tuple[str, float], ...]:
    """Return reference weights: the share of inherited genes that each parent gave.

    A gene is a term, or the backbone as a whole. It is inherited from the parents that have that kind with
    equal values; if none has, from those that have the kind with other values; a gene that no parent has
    counts for none. Several sources share a gene alike.
    """
    shares = dict.fromkeys((design_id for design_id, _ in parents), 0.0)
    genes: list[tuple[str, object]] = [("", child.backbone), *child.terms]
    for name, values in genes:
        holders = [
            (design_id, (result.backbone if not name else dict(result.terms).get(name)))
            for design_id, result in parents
        ]
        holders = [(design_id, held) for design_id, held in holders if held is not None]
        sources = [design_id for design_id, held in holders if held == values]
        if not sources:
            sources = [parents[0][0]] if not name else [design_id for design_id, _ in holders]
        for design_id in sources:
            shares[design_id] += 1.0 / len(sources)
    total = sum(shares.values())
    return tuple((design_id, share / total) for design_id, share in shares.items() if share > 0)


def _draw_operator(random: np.random.Generator) -> str:
    return str(random.choice(list(OPERATOR_ODDS), p=list(OPERATOR_ODDS.values())))


def _apply(
    name: str, first: Parent, donors: Sequence[Parent], random: np.random.Generator, focus: tuple[str, ...]
) -> Child | None:
    assert isinstance(first.genome, PaperGenome)
    if name == "graft":
        return _graft(first, donors[int(random.integers(len(donors)))], random, focus) if donors else None
    change: Callable[
        [PaperGenome, np.random.Generator, tuple[str, ...]], tuple[PaperGenome, str, str] | None
    ] = {"add_gate": _add_gate, "drop_gate": _drop_gate, "swap": _swap, "perturb": _perturb}[name]
    made = change(first.genome, random, focus)
    return None if made is None else _child(made[0], name, made[1], made[2], [first])


def _child(made: PaperGenome, operator: str, title: str, rationale: str, parents: Sequence[Parent]) -> Child:
    known = [
        (parent.design_id, parent.genome) for parent in parents if isinstance(parent.genome, PaperGenome)
    ]
    short = short_title(title, parents[0].design_id)
    return Child(
        compose(made, short, rationale), {}, made, operator, inherited_shares(made, known), short, rationale
    )


def _pick(names: Sequence[str], random: np.random.Generator, focus: tuple[str, ...]) -> str:
    preferred = [name for name in names if name in focus] or list(names)
    return preferred[int(random.integers(len(preferred)))]


def _with(base: PaperGenome, names: Sequence[str], random: np.random.Generator) -> PaperGenome:
    """Return `base` with the named kinds added, their values drawn near the defaults."""
    terms, backbone = base.term_values(), base.backbone_values()
    for name in names:
        terms[name] = start_values(kinds()[name].parameters, random)
    if not base.has_release() and any(kinds()[name].slot == "release" for name in names):
        backbone.update(start_values((KAPPA,), random))
    return genome(backbone, terms)


def start_values(parameters: Iterable[Parameter], random: np.random.Generator) -> dict[str, float]:
    """Return values for a new term: near the defaults, so that a term can be worth something immediately."""
    return {
        parameter.name: float(
            moved_value(
                Scale(parameter.name, parameter.type, parameter.low, parameter.high),
                parameter.default,
                STEP,
                random,
            )
        )
        for parameter in parameters
    }


def _addable(base: PaperGenome) -> list[str]:
    present = set(base.term_names())
    return [
        name for name, kind in kinds().items() if name not in present and present.issuperset(kind.requires)
    ]


def _add_gate(
    base: PaperGenome, random: np.random.Generator, focus: tuple[str, ...]
) -> tuple[PaperGenome, str, str] | None:
    names = _addable(base)
    if not names:
        return None
    chosen = _pick(names, random, focus)
    added = [chosen]
    if kinds()[chosen].slot == "release" and not base.has_release():
        opening = OPENING_GATES[int(random.integers(len(OPENING_GATES)))]
        added = [*dict.fromkeys((chosen, *opening))]
    why = "; ".join(f"{name}: {kinds()[name].why}" for name in added)
    return _with(base, added, random), "add " + ", ".join(added), f"Adds {why}."


def _drop_gate(
    base: PaperGenome, random: np.random.Generator, focus: tuple[str, ...]
) -> tuple[PaperGenome, str, str] | None:
    names = base.term_names()
    if not names:
        return None
    chosen = _pick(names, random, ())
    left = without(base, [chosen])
    gone = [name for name in names if name not in left.term_names()]
    return (
        left,
        "drop " + ", ".join(gone),
        f"Removes {', '.join(gone)} to see whether the rest carries the design.",
    )


def _swap(
    base: PaperGenome, random: np.random.Generator, focus: tuple[str, ...]
) -> tuple[PaperGenome, str, str] | None:
    names = base.term_names()
    if not names:
        return None
    old = _pick(names, random, ())
    left = without(base, [old])
    candidates = [
        name for name in _addable(left) if kinds()[name].slot == kinds()[old].slot and name not in names
    ]
    if not candidates:
        return None
    new = _pick(candidates, random, focus)
    made = _with(left, [new], random)
    if KAPPA.name in base.backbone_values() and made.has_release():
        made = genome(
            made.backbone_values() | {KAPPA.name: base.backbone_values()[KAPPA.name]}, made.term_values()
        )
    return made, f"swap {old} for {new}", f"Replaces {old} by {new}: {kinds()[new].why}."


def _perturb(
    base: PaperGenome, random: np.random.Generator, focus: tuple[str, ...]
) -> tuple[PaperGenome, str, str] | None:
    moved = perturbed_values(base.values(), scales_of(base), random)
    changed = [name for name, value in moved.items() if value != base.values()[name]]
    if not changed:
        return None
    return (
        with_values(base, moved),
        "perturb " + ", ".join(changed),
        f"Moves {', '.join(changed)}, each on its own scale.",
    )


def _graft(first: Parent, donor: Parent, random: np.random.Generator, focus: tuple[str, ...]) -> Child | None:
    assert isinstance(first.genome, PaperGenome) and isinstance(donor.genome, PaperGenome)
    names = [name for name in donor.genome.term_names() if name not in first.genome.term_names()]
    if names:
        chosen = _pick(names, random, focus)
        wanted = _closure(chosen, first.genome)
        backbone = first.genome.backbone_values()
        if kinds()[chosen].slot == "release" and not first.genome.has_release():
            wanted = [name for name in donor.genome.term_names() if kinds()[name].slot == "release"]
            backbone[KAPPA.name] = donor.genome.backbone_values()[KAPPA.name]
        given = {name: result for name, result in donor.genome.term_values().items() if name in wanted}
        made = genome(backbone, first.genome.term_values() | given)
        title, why = (
            f"graft {chosen} of {donor.design_id[:6]}",
            f"Takes {', '.join(wanted)} from {donor.title} into {first.title}.",
        )
    else:
        made = genome(donor.genome.backbone_values(), first.genome.term_values())
        title, why = (
            f"graft backbone of {donor.design_id[:6]}",
            f"Runs the terms of {first.title} on the backbone parameters of {donor.title}.",
        )
    return _child(made, "graft", title, why, [first, donor])


def _closure(name: str, base: PaperGenome) -> list[str]:
    """`name` and what it requires that `base` lacks, required kinds first."""
    needed: list[str] = []
    for other in kinds()[name].requires:
        if other not in base.term_names():
            needed += [result for result in _closure(other, base) if result not in needed]
    return [*needed, name]


def with_values(base: PaperGenome, values: Mapping[str, float | int | str]) -> PaperGenome:
    """Return `base` with other hyperparameter values, flat by name; unknown names are an InputError of
    `genome`."""
    terms = {
        name: {key: float(values.get(key, old)) for key, old in held.items()}
        for name, held in base.term_values().items()
    }
    backbone = {key: float(values.get(key, old)) for key, old in base.backbone_values().items()}
    return genome(backbone, terms)
