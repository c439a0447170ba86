"""Make one child of a program by one of the operators, a bandit over what each has gained so far; or with a
function of the same name, or a whole block, of another program."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from evolake.programs.model.program_text import (
    BadBlocks,
    Blocks,
    Places,
    Unreadable,
    cut,
    parse,
    read_only_tree,
)
from evolake.programs.search.numbers import inside
from evolake.programs.search.steps import promising_step, step_few
from evolake.programs.search.structure import MUTATIONS
from evolake.programs.search.trials import NUMBERS_ONLY, POLISH, UNLIFTED, Group, Trial, Trials, draw_operator


def crossed(
    texts: Mapping[str, str], other: Mapping[str, str], random: np.random.Generator
) -> dict[str, str] | None:
    """Return the texts with one function or one block of `other`; None where both are alike in all of
    them."""
    ways = [
        (name, place)
        for name in texts
        if name in other
        for place in differing(name, texts[name], other[name])
    ]
    if not ways:
        return None
    name, (span, written) = ways[int(random.integers(len(ways)))]
    text = texts[name]
    return {**texts, name: text[: span[0]] + written + text[span[1] :]}


def differing(name: str, text: str, other: str) -> list[tuple[tuple[int, int], str]]:
    """Return (where, what is there in the other) of each function of one name that is another there; of
    blocks, if there are several."""
    own, theirs = cut(text, name), cut(other, name)
    outcome = []
    if name.endswith(".py"):
        mine, yours = functions(text, own), functions(other, theirs)
        both = [
            (span, other[slice(*yours[function])]) for function, span in mine.items() if function in yours
        ]
        outcome = [(span, written) for span, written in both if text[slice(*span)] != written]
    if len(own.blocks) > 1 and len(own.blocks) == len(theirs.blocks):
        pairs = zip(own.spans(), own.blocks, theirs.blocks, strict=True)
        outcome += [(span, block) for span, before, block in pairs if before != block]
    return outcome


def functions(text: str, blocks: Blocks) -> dict[str, tuple[int, int]]:
    """Return name -> place of the functions at the top of a text that are in its blocks. Those with
    decorators are left out."""
    places, spans = Places(text), blocks.spans()
    return {
        node.name: places.span(node)
        for node in parse(text).body
        if isinstance(node, ast.FunctionDef) and not node.decorator_list and inside(*places.span(node), spans)
    }


TRIES = 12
SELDOM, USEFUL = (0.3, 6.0), (0.6, 6.0)
"""Successes and failures that an operator is taken to have had before the first trial."""
NUMBERS = Group((3.0, 3.0), {"surrogate": (3.0, 6.0), "step_few": (1.5, 6.0)})
STRINGS = Group((1.0, 3.0), {"string": (1.0, 3.0)})
STRUCTURE = Group(
    (0.7, 3.0),
    dict.fromkeys(("crossover", *sorted(set(MUTATIONS) - {"string"})), SELDOM)
    | dict.fromkeys(("repeat", "term", "flip", "operator"), USEFUL),
)
GROUPS = (NUMBERS, STRINGS, STRUCTURE)
"""Numbers are changed most often at the beginning, since a change of one is seldom fatal."""
POLISHING = Group((1.0, 1.0), {POLISH: (1.0, 1.0)})
"""Offered where the value that a program returns can be taken out of it and polished, which needs the
evaluator: a child by it has its parent's texts until then."""
OPERATORS = [name for group in GROUPS for name in group.operators]


@dataclass(frozen=True)
class Child:
    """New texts, and the operator that made them."""

    texts: dict[str, str]
    operator: str


@dataclass(frozen=True)
class Background:
    """What is known around a parent.

    Attributes:
        trials: of the project. place: of the parent among them; None if it is not there. other: another
            parent. only: as of `Choice`.
        polish_cost: how many times the processor time of other trials a polish takes; None: it is not
            offered.
    """

    trials: Trials
    place: int | None = None
    other: Mapping[str, str] | None = None
    only: str = ""
    polish_cost: float | None = None


def polish_drawn(trials: Trials, cost: float, random: np.random.Generator) -> bool:
    """Return whether the next child is to be a polish. cost: of one, in trials of other operators."""
    return draw_operator((*GROUPS, POLISHING), trials, random, costs={POLISH: cost}) == POLISH


def child_of(parent: Trial, around: Background, random: np.random.Generator) -> Child | None:
    """Return a child; None if no operator finds anything to change in a dozen tries."""
    texts, barred = parent.texts, set[str]()
    if around.place is None:
        trials = Trials([*around.trials.items, parent], around.trials.maximize)
        around = replace(around, trials=trials, place=len(trials.items) - 1)
    tried = around.trials.tried
    groups, costs = GROUPS, dict[str, float]()
    if around.polish_cost is not None and around.only != UNLIFTED:
        groups, costs = (*GROUPS, POLISHING), {POLISH: around.polish_cost}
        if around.only == POLISH:
            return Child(dict(texts), POLISH)
    for _ in range(TRIES):
        if len(barred) == len(OPERATORS):
            return None
        numbers_only = around.only == NUMBERS_ONLY and not barred.issuperset(NUMBERS.operators)
        name = draw_operator(
            [NUMBERS] if numbers_only else groups, around.trials, random, barred=barred, costs=costs
        )
        if name == POLISH:
            return Child(dict(texts), POLISH)
        try:
            made = _made(name, texts, around, random)
        except (
            Unreadable,
            BadBlocks,
        ):  # of a parent that no operator can take apart; a model may still change it
            made = None
        if made is None:
            barred.add(name)
        elif (
            tuple(sorted(made.items())) not in tried
            and made != dict(texts)
            and all(_reads(file, text) for file, text in made.items())
        ):
            return Child(made, name)
    return None


def _made(
    name: str, texts: Mapping[str, str], around: Background, random: np.random.Generator
) -> dict[str, str] | None:
    assert around.place is not None
    if name in NUMBERS.operators:
        step = promising_step if name == "surrogate" else step_few
        return step(around.trials, around.place, random)
    if name == "crossover":
        return crossed(texts, around.other, random) if around.other is not None else None
    files = [file for file in texts if file.endswith(".py")]
    if not files:
        return None
    file = files[int(random.integers(len(files)))]
    text = MUTATIONS[name](texts[file], cut(texts[file], file).spans(), random)
    return None if text is None else {**texts, file: text}


def _reads(name: str, text: str) -> bool:
    if not name.endswith(".py"):
        return True
    try:
        read_only_tree(text)
    except Unreadable:
        return False
    return True
