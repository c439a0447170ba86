"""`solve` and `check`: a text's answer, or a given answer judged, or the sentence that is unread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evolake.families.text_solver import (
    boards,
    computed,
    groups,
    made,
    orders,
    queues,
    rows,
    runs,
    selections,
    single,
)
from evolake.families.text_solver.language import Meaning, Unanswerable, Unreadable

KINDS = (orders, runs, rows, selections, groups, queues, boards, single, computed, made)


@dataclass(frozen=True)
class Answer:
    """The answer that the text has (`many`: one of several). rules: the sentences that decide it."""

    value: Any
    kind: str
    many: bool = False
    rules: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unread:
    """No meaning was found; `sentence` is what could not be read, or why."""

    sentence: str


@dataclass(frozen=True)
class Void:
    """The text was read and has no answer: nothing fits it, or something that it says does not hold."""

    why: str
    rules: tuple[str, ...] = ()


@dataclass(frozen=True)
class Right:
    """The answer fits the text."""


@dataclass(frozen=True)
class Wrong:
    """The answer does not fit the text."""

    why: str


def read(text: str) -> tuple[str, Meaning]:
    """Return the kind and the meaning of a text; raise Unreadable with the part that has none."""
    deepest = ""
    for kind in KINDS:
        try:
            return kind.__name__.rpartition(".")[2], kind.read(text)
        except Unreadable as unread:
            deepest = _deeper(text, deepest, str(unread))
    raise Unreadable(deepest)


def _deeper(text: str, one: str, other: str) -> str:
    """Return the remark that is about a later part of the text: its kind came furthest."""
    if not one or other not in text:
        return other
    return max(one, other, key=lambda part: text.find(part) if part in text else len(text))


def solve(text: str) -> Answer | Void | Unread:
    """Compute the answer to a question's text.

    Args:
        text: the whole question, untrusted.

    Returns:
        The answer, a JSON value; why there is none; or what could not be read.
    """
    rules: tuple[str, ...] = ()
    try:
        kind, meaning = read(text)
        rules = tuple(meaning.rules)
        value = _plain(meaning.find())
        return Answer(value, kind, meaning.fault is not None, rules)
    except Unanswerable as void:
        return Void(str(void), rules)
    except (Unreadable, RecursionError, OverflowError) as unread:
        return Unread(str(unread))


def check(text: str, answer: Any) -> Right | Wrong | Unread:
    """Judge an answer by the text alone.

    Args:
        text: the whole question, untrusted.
        answer: a JSON value, untrusted.

    Returns:
        Right, Wrong with the reason, or what could not be read.
    """
    try:
        _, meaning = read(text)
        wrong = (meaning.fault or _other_than(meaning))(answer)
    except Unanswerable as void:
        return Wrong(str(void))
    except (Unreadable, RecursionError, OverflowError) as unread:
        return Unread(str(unread))
    return Wrong(wrong) if wrong else Right()


def _other_than(meaning: Meaning) -> Callable[[Any], str]:
    def fault(answer: Any) -> str:
        right = _plain(meaning.find())
        if _same(_plain(answer), right):
            return ""
        return f"the text gives {right!r}, not {answer!r}"[:400]

    return fault


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) or isinstance(other, float):
        numbers = isinstance(one, int | float) and isinstance(other, int | float)
        return numbers and abs(one - other) <= 1e-9 * max(1.0, abs(other))
    return type(one) is type(other) and one == other


def _plain(value: Any) -> Any:
    """Return a JSON value: mappings with text keys, lists for tuples."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
