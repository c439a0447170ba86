"""A puzzle, drawn whole: an engine, a theme, a question and two alternatives of each rule make their own
family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evolake.families.model.contract import Alternative, Answer, Family, MutationPoint
from evolake.families.model.statement import whole
from evolake.families.worlds.declaring import declared_source
from evolake.families.worlds.liveliness import is_alive
from evolake.families.worlds.parts import by_rules
from evolake.families.worlds.puzzles.engines import (
    CHECKERS,
    PROGRAMS,
    PUZZLES,
    WORD,
    Puzzle,
    PuzzleQuestion,
    PuzzleRule,
)
from evolake.families.worlds.trying import NoWorld, all_matter
from evolake.program_templates import fill_places, fill_template

TEMPLATES = "evolake.families.worlds.puzzles.templates"
OF_MANY_ANSWERS = tuple(puzzle for puzzle in PUZZLES if puzzle.checkers)
OF_ONE_ANSWER = tuple(puzzle for puzzle in PUZZLES if not puzzle.checkers)
CONSTRUCTIVE = 0.75
"""Share of the families that ask for something to be made, which has many correct answers. Some 15 % of a
cycle's accepted children then do."""
DRAWS = 30
TRIED, TRIES, DIFFERENT, CHANGED = 5, 16, 8, 3
"""A puzzle's answers are looked at on so many instances of one difficulty: how many must differ, and be
others by another rule."""

Rules = Mapping[str, Sequence[PuzzleRule]]
"""Point -> its alternatives, of which the first is in force."""


def puzzle_world(random: np.random.Generator) -> Family:
    """Return a family that no other is a parent of. Raises NoWorld: no question and rules were found that all
    matter."""
    kind = OF_MANY_ANSWERS if random.random() < CONSTRUCTIVE else OF_ONE_ANSWER
    for _ in range(DRAWS):
        puzzle = kind[int(random.integers(len(kind)))]
        theme = puzzle.themes[int(random.integers(len(puzzle.themes)))]
        question = puzzle.questions[int(random.integers(len(puzzle.questions)))]
        rules = {
            point: [alike[place] for place in random.choice(len(alike), size=2, replace=False).tolist()]
            for point, alike in puzzle.rules.items()
        }
        family = puzzle_of(puzzle, theme, rules, question)
        if all_matter(family, TRIED, TRIES, DIFFERENT, CHANGED) and is_alive(family):
            return family
    raise NoWorld("no question and rules of a puzzle were found that all matter")


def puzzle_of(puzzle: Puzzle, theme: Mapping[str, str], rules: Rules, question: PuzzleQuestion) -> Family:
    """Return the family of these choices."""
    points = tuple(
        MutationPoint(
            name,
            tuple(Alternative(item.name, said(item.text, theme), f'"{item.name}"') for item in alternatives),
            alternatives[0].name,
        )
        for name, alternatives in rules.items()
    )
    text = f"{said(puzzle.text, theme)}\n\n<!-- question -->\n{said(question.text, theme)}\n"
    constants = "".join(f'{point.constant} = "{point.chosen}"\n' for point in points) + said(
        puzzle.constants, theme
    )
    words, forms = repr(dict(theme)), {slot: said(form, theme) for slot, form in puzzle.forms.items()}
    primary, *others = (
        fill_places(puzzle.programs[part], constants=constants, answer=f"{getattr(question, part)}\n")
        for part in (*PROGRAMS, *CHECKERS)
        if part in puzzle.programs
    )
    listed = [(said(sentence, theme), "") for sentence in puzzle.listed]
    return Family(
        name="puzzle_world",
        title=title(puzzle, theme, rules, question),
        category=puzzle.category,
        language="en",
        generator=fill_places(puzzle.programs["generator"], words=words, constants=constants),
        template=text,
        validator=primary,
        validators=dict(zip(puzzle.validators, others[:2], strict=True)),
        reader=fill_template(
            f"{TEMPLATES}.reader",
            words=words,
            whole=repr(whole(text, points, forms)),
            declared=declared_source(text, points, lambda point, item: "", listed),
            read=puzzle.read,
            reading=said(puzzle.reading, theme),
        ),
        answer=Answer(question.answer),
        points=points,
        parents=(),
        operator="puzzle_world",
        checkers=dict(zip(puzzle.checkers, others[2:], strict=True)),
    )


def said(text: str, theme: Mapping[str, str]) -> str:
    """Return the text in the words of the theme: <word> stands for a word."""
    return WORD.sub(lambda match: theme[match[1]], text)


def title(puzzle: Puzzle, theme: Mapping[str, str], rules: Rules, question: PuzzleQuestion) -> str:
    """Return what the puzzle is about, what is asked, and which rules are in force."""
    return (
        f"{theme['title']}: "
        f"{question.title}{by_rules(said(alternatives[0].label, theme) for alternatives in rules.values())}"
    )
