"""One child of a program, by one of the operators, drawn with odds that fit what the program is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evolake.programs.model.blocks import BadBlocks, cut
from evolake.programs.model.source import Unreadable, parse
from evolake.programs.search.crossover import crossed
from evolake.programs.search.mutations import MUTATIONS
from evolake.programs.search.numbers import Relative, along_difference, step_all, step_one
from evolake.programs.search.tuning import tuned

TRIES = 12
ODDS = {"step_one": 3.0, "step_all": 3.0, "difference": 4.0, "tpe": 2.0, "crossover": 1.5, **dict.fromkeys(MUTATIONS, 0.7)}
"""Numbers are changed most often: a change of one is seldom fatal, and its effect is what the next one builds on."""


@dataclass(frozen=True)
class Child:
    """New texts, and the operator that made them."""

    texts: dict[str, str]
    operator: str


def child_of(
    parent: Relative, other: Mapping[str, str] | None, relatives: Sequence[Relative], random: np.random.Generator, *, maximize: bool = True,
) -> Child | None:
    """A child; None where no operator finds anything to change in a dozen tries.

    Args:
        other: a second parent, of the same project. relatives: programs of the project that have been measured. maximize: whether higher is better.
    """
    texts = parent.texts
    names = list(ODDS)
    odds = np.array([ODDS[name] for name in names]) / sum(ODDS.values())
    for _ in range(TRIES):
        name = names[int(random.choice(len(names), p=odds))]
        try:
            made = tuned(parent, relatives, random, maximize=maximize) if name == "tpe" else _made(name, texts, other, relatives, random)
        except (Unreadable, BadBlocks):  # of a parent that no operator can take apart; a model may still change it
            continue
        if made is not None and made != dict(texts) and all(_reads(file, text) for file, text in made.items()):
            return Child(made, name)
    return None


def _made(
    name: str, texts: Mapping[str, str], other: Mapping[str, str] | None, relatives: Sequence[Relative], random: np.random.Generator,
) -> dict[str, str] | None:
    if name == "crossover":
        return crossed(texts, other, random) if other is not None else None
    if name == "difference":
        return along_difference(texts, [relative.texts for relative in relatives], random)
    if name in ("step_one", "step_all"):
        return (step_one if name == "step_one" else step_all)(texts, random)
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
        parse(text)
    except Unreadable:
        return False
    return True
