"""`solve` and `check`: a text's answer, or a given answer judged, or the sentence that is unread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from evolake.families.text_solver.language import Unreadable

KINDS = ("orders", "runs", "rows", "selections", "groups")


@dataclass(frozen=True)
class Answer:
    """The answer that the text has (`many`: one of several)."""

    value: Any
    kind: str
    many: bool = False


@dataclass(frozen=True)
class Unread:
    """No meaning was found; `sentence` is what could not be read, or why."""

    sentence: str


@dataclass(frozen=True)
class Right:
    """The answer fits the text."""


@dataclass(frozen=True)
class Wrong:
    """The answer does not fit the text."""

    why: str


@dataclass(frozen=True)
class Meaning:
    """What a text asks. `find` returns an answer; `fault` is None where one answer is right, else
    it returns why a given answer is wrong, or an empty string."""

    find: Callable[[], Any]
    fault: Callable[[Any], str] | None = None


def read(text: str) -> tuple[str, Meaning]:
    """Return the kind and the meaning of a text; raise Unreadable with the part that has none."""
    deepest = ""
    for kind in KINDS:
        try:
            return kind, import_module(f"evolake.families.text_solver.{kind}").read(text)
        except Unreadable as unread:
            deepest = _deeper(text, deepest, str(unread))
    raise Unreadable(deepest)


def _deeper(text: str, one: str, other: str) -> str:
    """Return the remark that is about a later part of the text: its kind came furthest."""
    if other not in text:
        return other
    return max(one, other, key=lambda part: text.find(part) if part in text else len(text))


def solve(text: str) -> Answer | Unread:
    """Compute the answer to a question's text.

    Args:
        text: the whole question, untrusted.

    Returns:
        The answer, a JSON value; or what could not be read.
    """
    try:
        kind, meaning = read(text)
        return Answer(_plain(meaning.find()), kind, meaning.fault is not None)
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
