"""Draw puzzle worlds: an engine, a theme, a question and two alternatives of each rule make a family.

An engine is a Markdown file of the folder `puzzles`: what it is about in a heading and prose, its words in a
block of TOML, and a generator and three programs that share no code, each in a block of Python below a
heading; engines with many correct answers have two checkers as well.

    ## first: memo

    What this one does otherwise than the primary.

    ```python
    ...
    ```

The heading is the program's part, with the name that families call it by. In a program, names in double
underscores are filled in (`evolake.program_templates`). In the words, answers of questions are the last
statements of the programs' `solution` and the first ones of the checkers' `check`. A primary that can find
all right answers has `every(inputs)`, which yields them, and writes one in `shown`: operators ask it for more.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evolake.errors import MachineryError
from evolake.families.model.contract import (
    ANSWER_TYPES,
    CATEGORIES,
    Alternative,
    Answer,
    AnswerType,
    Category,
    Family,
    MutationPoint,
)
from evolake.families.model.statement import whole
from evolake.families.worlds.liveliness import NoWorld, is_alive
from evolake.families.worlds.parts import by_rules, declared_source
from evolake.lines import folder_of
from evolake.program_templates import fill_places, fill_template
from evolake.reading.toml_text import parse_toml

PROGRAMS = ("primary", "first", "second")
CHECKERS = ("check_first", "check_second")
FOLDER = folder_of("evolake.families.worlds") / "puzzles"
WORD = re.compile(r"<([A-Za-z_]+)>")
"""A word of the theme, in a text."""
_FENCE = re.compile(r"^```(\w*)\n", re.MULTILINE)
_HEADING = re.compile(r"^## (\w+)(?:: (\w+))?\n", re.MULTILINE)


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
    listed: tuple[str, ...]
    forms: Mapping[int, str]
    read: str
    rules: Mapping[str, tuple[PuzzleRule, ...]]
    questions: tuple[PuzzleQuestion, ...]
    themes: tuple[Mapping[str, str], ...]
    programs: Mapping[str, str]
    constants: str = ""
    reading: str = ""
    checkers: tuple[()] | tuple[str, str] = ()


def puzzle_in(text: str, name: str) -> Puzzle:
    """Return the engine that the text of the file NAME.md declares.

    Raises:
        MachineryError: something is missing, unknown or there twice.
        Unparsable: the words are no TOML.
    """
    words, programs, called = _parts(text, name)
    parts = ("generator", *PROGRAMS, *(CHECKERS if CHECKERS[0] in programs else ()))
    if tuple(programs) != parts:
        raise _wrong(name, f"programs: {', '.join(programs)}", f"{', '.join(parts)}, in this order")
    if unnamed := [part for part in parts[2:] if not called[part]]:
        raise _wrong(name, f"`## {unnamed[0]}` without a name", f"## {unnamed[0]}: NAME")
    for part in ("rules", "questions", "themes"):
        if not words.get(part):
            raise _wrong(name, f"no {part}")
    made = {
        "listed": tuple(words.pop("listed", ())),
        "themes": tuple(words.pop("themes")),
        "constants": _lines(words.pop("constants", "")),
        "reading": _lines(words.pop("reading", "")),
        "validators": (called["first"], called["second"]),
        "checkers": tuple(called[part] for part in parts if part in CHECKERS),
    }
    forms, rules, questions = (words.pop(key, {}) for key in ("forms", "rules", "questions"))
    try:
        puzzle = Puzzle(
            name=name,
            programs=programs,
            forms={int(slot): form for slot, form in forms.items()},
            rules={
                point: tuple(PuzzleRule(name=key, **entry) for key, entry in alike.items())
                for point, alike in rules.items()
            },
            questions=tuple(
                PuzzleQuestion(
                    name=key,
                    **entry | {part: textwrap.indent(entry[part].strip("\n"), "    ") for part in parts[1:]},
                )
                for key, entry in questions.items()
            ),
            **words,
            **made,
        )
    except KeyError as error:
        raise _wrong(name, f"a question without {error}") from None
    except (
        AttributeError,
        TypeError,
        ValueError,
    ) as error:  # an attribute that is unknown, missing or no table
        raise _wrong(name, str(error)) from None
    _check_words(puzzle)
    return puzzle


def _parts(text: str, name: str) -> tuple[dict[str, Any], dict[str, str], dict[str, str]]:
    """Return the words, the text of each program, and what each is called."""
    words: dict[str, Any] = {}
    programs: dict[str, str] = {}
    called: dict[str, str] = {}
    blocks = _FENCE.split(text)
    if len(blocks) % 4 != 1 or any(blocks[3::4]):
        raise _wrong(name, "a block that does not end")
    for prose, language, block in zip(blocks[::4], blocks[1::4], blocks[2::4], strict=False):
        heading = _HEADING.findall(prose)
        if language == "toml" and not heading and not words:
            words = parse_toml(block, name=f"{name}.md")
        elif language == "python" and len(heading) == 1 and heading[0][0] not in programs:
            [(part, program)] = heading
            programs[part], called[part] = block, program
        else:
            raise _wrong(name, f"a block of {language or 'nothing'} below {heading or 'no heading'}")
    return words, programs, called


def _lines(code: str) -> str:
    return f"{code.strip()}\n" if code else ""


def _check_words(puzzle: Puzzle) -> None:
    """Raise MachineryError for a category, type or word that does not exist."""
    if puzzle.category not in CATEGORIES:
        raise _wrong(puzzle.name, f"category {puzzle.category!r}", ", ".join(CATEGORIES))
    if few := [point for point, alike in puzzle.rules.items() if len(alike) < 2]:
        raise _wrong(puzzle.name, f"rule {few[0]} with one alternative", "two or more")
    if odd := [question.answer for question in puzzle.questions if question.answer not in ANSWER_TYPES]:
        raise _wrong(puzzle.name, f"an answer of type {odd[0]!r}", ", ".join(ANSWER_TYPES))
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
            raise _wrong(puzzle.name, f"a theme without the word {lacking[0]!r}: {dict(theme)}")


def _wrong(name: str, got: str, wanted: str = "what the other engines have") -> MachineryError:
    return MachineryError(
        f"puzzle engine {name}.md declares no puzzle",
        wanted=wanted,
        got=got,
        do="correct the file in evolake/families/worlds/puzzles",
    )


def _shipped() -> tuple[Puzzle, ...]:
    found = [puzzle_in(path.read_text(encoding="utf-8"), path.stem) for path in sorted(FOLDER.glob("*.md"))]
    places = [puzzle.place for puzzle in found]
    if sorted(places) != list(range(1, len(found) + 1)):
        raise _wrong("*", f"places {sorted(places)}", "each number from 1 on once")
    return tuple(sorted(found, key=lambda puzzle: puzzle.place))


PUZZLES = _shipped()
"""The puzzle engines, in the order in which they are drawn."""


TEMPLATES = "evolake.families.worlds.puzzles.templates"
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
        puzzle = kind[int(random.integers(len(kind)))]
        theme = puzzle.themes[int(random.integers(len(puzzle.themes)))]
        question = puzzle.questions[int(random.integers(len(puzzle.questions)))]
        rules = {
            point: [alike[place] for place in random.choice(len(alike), size=2, replace=False).tolist()]
            for point, alike in puzzle.rules.items()
        }
        family = puzzle_of(puzzle, theme, rules, question)
        if is_alive(family):
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
