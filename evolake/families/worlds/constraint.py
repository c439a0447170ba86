"""A constraint world, drawn whole: a structure, a theme, some kinds of constraints and a question make their
own family.

No parent is asked, and no sentence of one is in it. The same random numbers give the same family, to the
byte.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from evolake.families.model.contract import CATEGORIES, Alternative, Answer, Category, Family, MutationPoint
from evolake.families.model.guessing import constant_share
from evolake.families.worlds.engines import listing_source, sat_source, search_source
from evolake.families.worlds.kinds import WORD, Kind, upper
from evolake.families.worlds.laws import LAWS, Law
from evolake.families.worlds.liveliness import is_alive
from evolake.families.worlds.questions import QUESTIONS, Question, points_of
from evolake.families.worlds.stating import generator_source, reader_source, template
from evolake.families.worlds.structures import STRUCTURES, Structure
from evolake.families.worlds.themes import Theme
from evolake.families.worlds.trying import NoWorld, answer_text, by_other_rules, entry, generating

FEWEST, MOST = 5, 8
"""Kinds of constraints in one world."""
WEIGHED, BOUNDS = ("weight", "best"), ("budget", "floor")
"""Questions and constraints on the numbers of a choice's things: a world of choices has one of them, or its
numbers would be idle."""
DRAWS, TURNS = 40, 16
"""Choices that are tried, and after how many of them another structure is drawn: a share of structures should
not depend on how often they fail."""
CHANGED = 2
"""Instances whose answers must be others by another rule."""
TRIED, TRIES = (5, 7, 9), 6
"""Difficulties that a world's answers are looked at on, and instances of each."""
EASIEST, HARDER = (1,), (3, 10)
"""Levels at which a guesser is tried, next to those of TRIED: first the one whose instances cost least and at
which most worlds fail."""
COMMONEST = 0.25
"""Share of these answers that one of them may have."""
LONGEST_TITLE = 200


def constraint_world(random: np.random.Generator) -> Family:
    """Return a family that no other is a parent of. Raises NoWorld: no constraints and question were found of
    which the answer depends and varies."""
    for turn in range(DRAWS):
        if turn % TURNS == 0:
            structure = list(STRUCTURES.values())[
                int(random.choice(len(STRUCTURES), p=[one.share for one in STRUCTURES.values()]))
            ]
        theme = structure.themes[int(random.integers(len(structure.themes)))]
        asked = [question for question in QUESTIONS if structure.name in question.structures]
        question = asked[int(random.integers(len(asked)))]
        kinds = _kinds(structure, question, random)
        lawful = [law for law in LAWS if structure.name in law.structures]
        laws = [lawful[place] for place in random.choice(len(lawful), size=2, replace=False).tolist()]
        if _worth_solving(family := world_of(structure, theme, kinds, laws, question)):
            return family
    raise NoWorld("no constraints and question were found of which the answer depends and varies")


def _kinds(structure: Structure, question: Question, random: np.random.Generator) -> list[Kind]:
    known = structure.kinds
    count = min(int(random.integers(FEWEST, MOST + 1)), len(known))
    kinds = [known[place] for place in sorted(random.choice(len(known), size=count, replace=False).tolist())]
    if (
        structure.name == "selection"
        and question.name not in WEIGHED
        and not any(kind.name in BOUNDS for kind in kinds)
    ):
        bounds = [kind for kind in known if kind.name in BOUNDS]
        kinds[-1] = bounds[int(random.integers(len(bounds)))]
    return kinds


def _worth_solving(family: Family) -> bool:
    """Whether, of some instances, no answer is a good guess, and some depend on each rule and each kind of
    constraint."""
    if not is_alive(family, levels=EASIEST):
        return False
    make, solution = generating(family.generator), entry(family.validator, "solution")
    try:
        instances = [make(difficulty, Random(seed)) for seed, difficulty in enumerate(TRIED * TRIES)]
    except ValueError:  # its generator found no instance
        return False
    answers = [solution(instance) for instance in instances]
    if constant_share(list(map(answer_text, answers))) > COMMONEST:
        return False
    for source in by_other_rules(family):
        other = entry(source, "solution")
        if (
            sum(
                _answer(other, instance) != answer
                for instance, answer in zip(instances, answers, strict=True)
            )
            < CHANGED
        ):
            return False
    left = {clue[0] for instance in instances for clue in instance["clues"]}
    for element, answer in zip(instances, answers, strict=True):
        for kind in left & {clue[0] for clue in element["clues"]}:
            if (
                solution(element | {"clues": [clue for clue in element["clues"] if clue[0] != kind]})
                != answer
            ):
                left = left - {kind}
    return not left and is_alive(family, levels=HARDER)


def _answer(solution: Callable[..., Any], inputs: Any) -> Any:
    """None if nothing fits by another law, and a source ends on that."""
    try:
        return solution(inputs)
    except (ValueError, IndexError, StopIteration):
        return None


def world_of(
    structure: Structure, theme: Theme, kinds: list[Kind], laws: list[Law], question: Question
) -> Family:
    """Return the family of these choices; the first of the laws is in force."""
    way = structure.way
    theme = Theme(
        theme.key, theme.title, theme.category, theme.names, theme.opening, {**theme.words, "ways": f"{way}s"}
    )
    points = (law_point(laws, theme), *points_of(question, way))
    return Family(
        name="constraint_world",
        title=title(theme, kinds, question),
        category=_category(theme.category),
        language="en",
        generator=generator_source(theme, structure, kinds, laws, question),
        template=template(theme, structure, question),
        validator=search_source(structure, kinds, laws, question),
        validators={
            "listing": listing_source(structure, kinds, laws, question),
            "sat": sat_source(structure, kinds, laws, question),
        },
        reader=reader_source(theme, structure, kinds, question, points),
        answer=Answer(question.answer),
        points=points,
        parents=(),
        operator="constraint_world",
    )


def law_point(laws: list[Law], theme: Theme) -> MutationPoint:
    """Return the rule slot of a world's law."""
    texts = {law.name: upper(WORD.sub(lambda match: theme.words[match[1]], law.text)) for law in laws}
    return MutationPoint(
        "law", tuple(Alternative(name, text, f'"{name}"') for name, text in texts.items()), laws[0].name
    )


def title(theme: Theme, kinds: list[Kind], question: Question) -> str:
    """Return what the puzzle is about, what is asked, and what the constraints speak of."""
    labels = list(dict.fromkeys(kind.label for kind in kinds))
    spoken = labels[0] if len(labels) == 1 else ", ".join(labels[:-1]) + " and " + labels[-1]
    return f"{theme.title}: {question.title}, from {spoken}"[:LONGEST_TITLE]


def _category(name: str) -> Category:
    assert name in CATEGORIES
    return name  # pyright: ignore[reportReturnType]
