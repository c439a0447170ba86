"""What a puzzle engine declares: its statement with rules, its questions, and how a reader takes the inputs
from a statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evolake.families.model.contract import AnswerType, Category


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
        name: of its templates (`NAME_generator`, `NAME_primary`, `NAME_first`, `NAME_second`) and in
            fingerprints of mechanics.
        validators: what the two independent programs are called, by their algorithms.
        text: the setting, with words of the theme, slots and rules. listed: sentences of its lists, with
            their own {slots}.
        forms: slot -> the regular expression of its texts. read: the expression of the inputs of `match`, in
            the reader; it sees the words as WORDS.
        rules: point -> its alternatives. themes: words by name; `title` begins the titles of families,
            `names` are names that a generator draws.
        constants: assignments of all programs that depend on the theme. reading: functions that `read` calls.
        checkers: of a puzzle with many correct answers, what its two checkers are called (`NAME_check_first`,
            `NAME_check_second`).
    """

    name: str
    category: Category
    validators: tuple[str, str]
    text: str
    listed: tuple[str, ...]
    forms: Mapping[int, str]
    read: str
    rules: Mapping[str, tuple[PuzzleRule, ...]]
    questions: tuple[PuzzleQuestion, ...]
    themes: tuple[Mapping[str, str], ...]
    constants: str = ""
    reading: str = ""
    checkers: tuple[()] | tuple[str, str] = ()
