"""Draw puzzle worlds: an engine, a theme, a question and two alternatives of each rule make a family.

An engine is a Markdown file of the folder `puzzles` (form: `evolake.families.worlds.engine_files`) with a
generator and three programs that share no code; engines with many correct answers have two checkers as well.
In its words, answers of questions are the last statements of the programs' `solution` and the first ones of
the checkers' `check`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from evolake.families.model.contract import ANSWER_TYPES, CATEGORIES, Answer, AnswerType, Category, Family
from evolake.families.model.statement import whole
from evolake.families.worlds.engine_files import (
    MATCHED,
    WORD,
    WORLDS,
    by_rules,
    constants_of,
    declared_source,
    named_records,
    one_of,
    parts_of,
    points_of,
    said,
    some_of,
    with_code,
    wrong,
)
from evolake.families.worlds.liveliness import NoWorld, is_alive

PROGRAMS = ("primary", "first", "second")
CHECKERS = ("check_first", "check_second")
FOLDER = WORLDS / "puzzles"
READER = """import re

WORDS = __words__
WHOLE = __whole__
__declared__
__reading__


def read(text):
    __matched__
    return __read__
"""


@dataclass(frozen=True)
class PuzzleRule:
    """An alternative of a rule. label: for titles. text: with words of the theme. The programs compare their
    constant with its name."""

    name: str
    label: str
    text: str


@dataclass(frozen=True)
class PuzzleQuestion:
    """title: for titles. text: with words of the theme. primary, first, second: the last statements of the
    three programs' `solution`.

    check_first, check_second: the first statements of the two checkers' `check`, of a puzzle with many
    correct answers.
    """

    name: str
    title: str
    text: str
    answer: AnswerType
    primary: str
    first: str
    second: str
    check_first: str = ""
    check_second: str = ""


@dataclass(frozen=True)
class Puzzle:
    """A puzzle engine.

    Attributes:
        name: of its file, and in fingerprints of mechanics.
        place: among the engines; what is drawn depends on it.
        validators: what the two independent programs are called, by their algorithms.
        text: the setting, with words of the theme, slots and rules. listed: sentences of its lists, with
            their own {slots}.
        forms: slot -> the regular expression of its texts. read: the expression of the inputs of `match`, in
            the reader; it sees the words as WORDS.
        rules: point -> its alternatives. themes: words by name; `title` begins the titles of families,
            `names` are names that a generator draws.
        programs: `generator`, `primary`, `first`, `second` and, of a puzzle with many correct answers,
            `check_first` and `check_second` -> its text with places to be filled in.
        constants: assignments of all programs that depend on the theme. reading: functions that `read` calls.
        checkers: of a puzzle with many correct answers, what its two checkers are called.
    """

    name: str
    place: int
    category: Category
    validators: tuple[str, str]
    text: str
    read: str
    rules: Mapping[str, tuple[PuzzleRule, ...]]
    questions: tuple[PuzzleQuestion, ...]
    themes: Sequence[Mapping[str, str]]
    programs: Mapping[str, str]
    checkers: tuple[str, ...]
    listed: Sequence[str] = ()
    forms: Mapping[int, str] = field(default_factory=dict[int, str])
    constants: str = ""
    reading: str = ""


def puzzle_in(text: str, name: str) -> Puzzle:
    """Return the engine that the text of the file NAME.md declares.

    Raises:
        MachineryError: something is missing, unknown or there twice.
        Unparsable: the words are no TOML.
    """
    words, programs, called = parts_of(text, name)
    parts = ("generator", *PROGRAMS, *(CHECKERS if CHECKERS[0] in programs else ()))
    if tuple(programs) != parts:
        raise wrong(name, f"programs: {', '.join(programs)}", f"{', '.join(parts)}, in this order")
    if unnamed := [part for part in parts[2:] if not called[part]]:
        raise wrong(name, f"`## {unnamed[0]}` without a name", f"## {unnamed[0]}: NAME")
    for part in ("rules", "questions", "themes"):
        if not words.get(part):
            raise wrong(name, f"no {part}")
    for part in parts[1:]:
        if any(part not in question for question in words["questions"].values()):
            raise wrong(name, f"a question without {part!r}")
    given: dict[str, object] = {
        **words,
        "forms": {int(slot): form for slot, form in words.get("forms", {}).items()},
        "rules": {point: named_records(PuzzleRule, alike, name) for point, alike in words["rules"].items()},
        "questions": named_records(PuzzleQuestion, words["questions"], name),
    }
    try:
        puzzle = Puzzle(
            name=name,
            programs=programs,
            validators=(called["first"], called["second"]),
            checkers=tuple(called[part] for part in parts if part in CHECKERS),
            **given,  # pyright: ignore[reportArgumentType]
        )
    except TypeError as error:  # an attribute that is unknown or missing
        raise wrong(name, str(error)) from None
    _check_words(puzzle)
    return puzzle


def _check_words(puzzle: Puzzle) -> None:
    """Raise MachineryError for a category, type or word that does not exist."""
    if puzzle.category not in CATEGORIES:
        raise wrong(puzzle.name, f"category {puzzle.category!r}", ", ".join(CATEGORIES))
    if few := [point for point, alike in puzzle.rules.items() if len(alike) < 2]:
        raise wrong(puzzle.name, f"rule {few[0]} with one alternative", "two or more")
    if odd := [question.answer for question in puzzle.questions if question.answer not in ANSWER_TYPES]:
        raise wrong(puzzle.name, f"an answer of type {odd[0]!r}", ", ".join(ANSWER_TYPES))
    texts = [
        puzzle.text,
        puzzle.constants,
        puzzle.reading,
        *puzzle.listed,
        *(text for alike in puzzle.rules.values() for item in alike for text in (item.label, item.text)),
        *(question.text for question in puzzle.questions),
    ]
    used = {"title", *(word for text in texts for word in WORD.findall(text))}
    for theme in puzzle.themes:
        if lacking := sorted(used - set(theme)):
            raise wrong(puzzle.name, f"a theme without the word {lacking[0]!r}: {dict(theme)}")


def _shipped() -> tuple[Puzzle, ...]:
    found = [puzzle_in(path.read_text(encoding="utf-8"), path.stem) for path in sorted(FOLDER.glob("*.md"))]
    places = [puzzle.place for puzzle in found]
    if sorted(places) != list(range(1, len(found) + 1)):
        raise wrong("*", f"places {sorted(places)}", "each number from 1 on once")
    return tuple(sorted(found, key=lambda puzzle: puzzle.place))


PUZZLES = _shipped()
"""The puzzle engines, in the order in which they are drawn."""


OF_MANY_ANSWERS = tuple(puzzle for puzzle in PUZZLES if puzzle.checkers)
OF_ONE_ANSWER = tuple(puzzle for puzzle in PUZZLES if not puzzle.checkers)
CONSTRUCTIVE = 0.75
"""Share of the families that ask for something to be made, which has many correct answers. Some 15 % of a
cycle's accepted children then do."""
DRAWS = 30

Rules = Mapping[str, Sequence[PuzzleRule]]
"""Point -> its alternatives, of which the first is in force."""


def puzzle_world(random: np.random.Generator) -> Family:
    """Return a family that no other is a parent of. Raises NoWorld: no question and rules were found that all
    matter."""
    kind = OF_MANY_ANSWERS if random.random() < CONSTRUCTIVE else OF_ONE_ANSWER
    for _ in range(DRAWS):
        puzzle = one_of(random, kind)
        theme, question = one_of(random, puzzle.themes), one_of(random, puzzle.questions)
        rules = {point: some_of(random, alike) for point, alike in puzzle.rules.items()}
        family = puzzle_of(puzzle, theme, rules, question)
        if is_alive(family):
            return family
    raise NoWorld("no question and rules of a puzzle were found that all matter")


def puzzle_of(puzzle: Puzzle, theme: Mapping[str, str], rules: Rules, question: PuzzleQuestion) -> Family:
    """Return the family of these choices."""
    points = points_of(
        {point: {item.name: said(item.text, theme) for item in alike} for point, alike in rules.items()}
    )
    text = f"{said(puzzle.text, theme)}\n\n<!-- question -->\n{said(question.text, theme)}\n"
    codes = {
        "constants": constants_of(points) + said(puzzle.constants, theme),
        "reading": said(puzzle.reading, theme),
        "matched": MATCHED,
    }
    forms = {slot: said(form, theme) for slot, form in puzzle.forms.items()}
    places = {
        "words": repr(dict(theme)),
        "whole": repr(whole(text, points, forms)),
        "declared": declared_source(text, points, {}, [(said(item, theme), "") for item in puzzle.listed]),
        "read": puzzle.read,
    }
    generator, primary, *others = (
        with_code(program, {**codes, "answer": getattr(question, part, "")}, **places)
        for part, program in puzzle.programs.items()
    )
    return Family(
        name="puzzle_world",
        title=f"{theme['title']}: {question.title}"
        + by_rules(said(alternatives[0].label, theme) for alternatives in rules.values()),
        category=puzzle.category,
        language="en",
        generator=generator,
        template=text,
        validator=primary,
        validators=dict(zip(puzzle.validators, others[:2], strict=True)),
        reader=with_code(READER, codes, **places),
        answer=Answer(question.answer),
        points=points,
        parents=(),
        operator="puzzle_world",
        checkers=dict(zip(puzzle.checkers, others[2:], strict=True)),
    )
