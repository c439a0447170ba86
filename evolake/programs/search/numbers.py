"""The numbers of a program that may be changed, and the program without them."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from evolake.programs.model.program_text import (
    BadBlocks,
    Parameter,
    Places,
    Unreadable,
    cut,
    parameters_in,
    read_only_tree,
)

LARGEST = 1e12
NEAR, WORD = 100, re.compile(r"(\w+)[ \t]*\Z")
"""Characters before a bracket in which the word before it is looked for, and that word."""
CALLED = (")", "]", "}", '"', "'")
"""What brackets call, or cannot follow: they group nothing there."""


@dataclass(frozen=True)
class Number:
    """One number in one file: from where to where it is written, its value, whether it is whole, and its
    bounds where it is marked."""

    file: str
    start: int
    end: int
    value: float
    whole: bool
    marked: Parameter | None = None

    def written(self, value: float) -> str:
        """Return a value as it is written there."""
        if self.marked:
            return self.marked.written(value)
        text = str(round(min(max(value, -LARGEST), LARGEST))) if self.whole else repr(float(f"{value:.9g}"))
        return f"({text})" if text.startswith("-") else text

    def read_back(self, value: float) -> float:
        """Return a value as the text will have it: rounded and within bounds."""
        return float(self.written(value).strip("()"))


def numbers_in(texts: Mapping[str, str]) -> list[Number]:
    """Return the numbers that may be tuned: those that are marked; of Python files without marks, the
    literals in their blocks."""
    result: list[Number] = []
    for name, text in texts.items():
        spans = cut(text, name).spans()
        marked = [
            parameter
            for parameter in parameters_in(text, name)
            if inside(parameter.start, parameter.end, spans)
        ]
        result += [Number(name, item.start, item.end, item.value, item.whole, item) for item in marked]
        if name.endswith(".py") and not marked:
            result += literals(name, text, tuple(spans))
    return result


@lru_cache(maxsize=64)
def literals(name: str, text: str, spans: tuple[tuple[int, int], ...]) -> tuple[Number, ...]:
    """Return numbers that are in Python's blocks."""
    places, result, within = Places(text), [], set[ast.AST]()
    for node in ast.walk(read_only_tree(text)):
        if node in within:
            continue
        value, sign = node, 1
        while isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub | ast.UAdd):
            sign, value = -sign if isinstance(value.op, ast.USub) else sign, value.operand
            within.add(value)
        if (
            isinstance(node, ast.UnaryOp | ast.Constant)
            and isinstance(value, ast.Constant)
            and isinstance(value.value, int | float)
            and not isinstance(value.value, bool)
        ):
            start, end = with_brackets(text, *places.span(node))
            if inside(start, end, spans) and abs(value.value) <= LARGEST:
                whole = isinstance(value.value, int)
                result.append(Number(name, start, end, float(sign * value.value), whole))
    return tuple(sorted(result, key=lambda item: item.start))


def with_brackets(text: str, start: int, end: int) -> tuple[int, int]:
    """Return from where to where a number reaches with the brackets that group it alone.

    A negative number is written in brackets and read back with them, so that its sign is no part of a
    program's skeleton. Brackets of a call are no such brackets.
    """
    while text[start - 1 : start] == "(" and text[end : end + 1] == ")":
        before = text[max(0, start - 1 - NEAR) : start - 1]
        word = WORD.search(before)
        gap = before.endswith((" ", "\t"))
        if before.rstrip()[-1:] in CALLED or (word and not (gap and keyword.iskeyword(word.group(1)))):
            break
        start, end = start - 1, end + 1
    return start, end


def inside(start: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether a piece of text is within one of the blocks."""
    return any(low <= start and end <= high for low, high in spans)


def with_numbers(texts: Mapping[str, str], values: Sequence[tuple[Number, float]]) -> dict[str, str]:
    """Return the texts with other values in the places of numbers; one that keeps its value stays as it is
    written, with all its digits."""
    changed = dict(texts)
    for number, value in sorted(values, key=lambda pair: -pair[0].start):
        if value == number.value:
            continue
        text = changed[number.file]
        changed[number.file] = text[: number.start] + number.written(value) + text[number.end :]
    return changed


def skeleton(texts: Mapping[str, str]) -> str:
    """Return the texts without their tunable numbers: programs of one skeleton are points of one space. ""
    where they cannot be read."""
    try:
        return "\0".join(with_holes(texts))
    except (Unreadable, BadBlocks, ValueError):
        return ""


def with_holes(texts: Mapping[str, str]) -> list[str]:
    """Return each text with a hole for each tunable number."""
    changed = dict(texts)
    for number in sorted(numbers_in(texts), key=lambda item: -item.start):
        text = changed[number.file]
        changed[number.file] = text[: number.start] + ("\1" if number.whole else "\2") + text[number.end :]
    return [changed[name] for name in sorted(changed)]
