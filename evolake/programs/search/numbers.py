"""Tune the numbers of a program: one changed by a step, all by small steps, along the difference of two
relatives, or by an estimator.

Programs that are the same but for their numbers are points of one space. The difference of two of them is a
step of the right size and direction (differential evolution: Storn and Price, J. Global Optimization 11,
1997), and all are trials of one study of Optuna's tree-structured Parzen estimator (Bergstra et al., NeurIPS
2011). The study is made again of the archive each time, so that there is no state next to the lake's: a cycle
that was killed draws what it would have drawn.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evolake.programs.model.program_text import (
    BadBlocks,
    Parameter,
    Places,
    Unreadable,
    cut,
    parameters_in,
    parse,
)

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution


MOST = 60
"""Numbers of a program that are tuned together."""
LONGEST = 1e12
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
        text = str(round(min(max(value, -LONGEST), LONGEST))) if self.whole else repr(float(f"{value:.9g}"))
        return f"({text})" if text.startswith("-") else text


@dataclass(frozen=True)
class Relative:
    """A program that was measured: path -> text, and its score."""

    texts: Mapping[str, str]
    score: float


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
            result += literals(name, text, spans)
    return result


def literals(name: str, text: str, spans: Sequence[tuple[int, int]]) -> list[Number]:
    """Return numbers that are in Python's blocks."""
    places, result, within = Places(text), [], set[ast.AST]()
    for node in ast.walk(parse(text)):
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
            if inside(start, end, spans) and abs(value.value) <= LONGEST:
                whole = isinstance(value.value, int)
                result.append(Number(name, start, end, float(sign * value.value), whole))
    return sorted(result, key=lambda item: item.start)


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
    """Return the texts with other values in the places of numbers."""
    changed = dict(texts)
    for number, value in sorted(values, key=lambda pair: -pair[0].start):
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


def step_one(texts: Mapping[str, str], random: np.random.Generator) -> dict[str, str] | None:
    """Return one number changed."""
    if not (result := numbers_in(texts)):
        return None
    number = result[int(random.integers(len(result)))]
    return with_numbers(texts, [(number, stepped(number, random, float(random.choice([0.03, 0.2, 0.7]))))])


def step_all(texts: Mapping[str, str], random: np.random.Generator) -> dict[str, str] | None:
    """Return the program with some or all numbers changed a little."""
    if not (result := numbers_in(texts)) or len(result) > MOST:
        return None
    share, size = float(random.choice([0.3, 1.0])), float(random.choice([0.003, 0.02, 0.1]))
    chosen = [item for item in result if random.random() < share] or result[:1]
    return with_numbers(
        texts,
        [
            (item, stepped(item, random, size))
            for item in chosen
            if not (item.whole and not item.marked and size < 0.02)
        ],
    )


def stepped(number: Number, random: np.random.Generator, size: float) -> float:
    """Return a value near a number's own; `size` is relative to it, or to its range where it is marked."""
    draw = float(random.normal())
    if number.marked:
        low, high = number.marked.low, number.marked.high
        if number.marked.log:
            return float(np.exp(np.log(max(number.value, low)) + draw * size * (np.log(high) - np.log(low))))
        step = draw * size * (high - low)
        return number.value + (np.sign(step) * max(abs(step), 1.0) if number.whole else step)
    if number.whole:
        return number.value + round(np.sign(draw) * max(1.0, abs(draw) * size * abs(number.value)))
    if number.value == 0:
        return draw * size
    return number.value * float(np.exp(draw * size)) * (-1 if random.random() < 0.02 else 1)


def along_difference(
    texts: Mapping[str, str], relatives: Sequence[Mapping[str, str]], random: np.random.Generator
) -> dict[str, str] | None:
    """Return the program's numbers moved along the difference of two relatives of its skeleton; None where it
    has not two."""
    own = skeleton(texts)
    same = [relative for relative in relatives if own and skeleton(relative) == own]
    result = numbers_in(texts)
    if len(same) < 2 or not result or len(result) > MOST:
        return None
    first, second = (same[place] for place in random.choice(len(same), 2, replace=False))
    ends = list(zip(numbers_in(first), numbers_in(second), strict=True))
    factor, kept = float(random.uniform(0.3, 1.2)), float(random.choice([0.5, 1.0]))
    moved = [
        (number, number.value + factor * (item.value - other.value))
        for number, (item, other) in zip(result, ends, strict=True)
        if item.value != other.value and random.random() < kept
    ]
    return with_numbers(texts, moved) if moved else None


FEWEST, MOST_DRAWN = 6, 24
"""Trials without which nothing is drawn, and numbers that are drawn together at most."""


def tuned(
    parent: Relative, relatives: Sequence[Relative], random: np.random.Generator, *, maximize: bool
) -> dict[str, str] | None:
    """Return the parent's texts with numbers drawn from all of its skeleton; None where these are too few or
    the numbers too many."""
    own, result = skeleton(parent.texts), numbers_in(parent.texts)
    if not own or not 0 < len(result) <= MOST_DRAWN:
        return None
    trials = [
        (numbers_in(relative.texts), relative.score)
        for relative in (parent, *relatives)
        if skeleton(relative.texts) == own
    ]
    if len(trials) < FEWEST:
        return None
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(
        seed=int(random.integers(2**31)), n_startup_trials=0, multivariate=True
    )
    study = optuna.create_study(direction="maximize" if maximize else "minimize", sampler=sampler)
    space = {str(place): space_of([numbers[place] for numbers, _ in trials]) for place in range(len(result))}
    for numbers, score in trials:
        values = {
            str(place): int(number.value) if number.whole else number.value
            for place, number in enumerate(numbers)
        }
        study.add_trial(optuna.trial.create_trial(params=values, distributions=space, value=score))
    drawn = study.ask(fixed_distributions=space)
    return with_numbers(
        parent.texts, [(number, float(drawn.params[str(place)])) for place, number in enumerate(result)]
    )


def space_of(values: Sequence[Number]) -> BaseDistribution:
    """Return where a number is drawn from: within its bounds where it is marked, else within what the trials
    span and a quarter as much on either side. The estimator draws from where it knows nothing if there is
    much of that."""
    from optuna.distributions import FloatDistribution, IntDistribution

    first = values[0]
    lowest, highest = min(value.value for value in values), max(value.value for value in values)
    if first.marked:
        low, high = min(first.marked.low, lowest), max(first.marked.high, highest)
        return (
            IntDistribution(int(low), int(high), log=first.marked.log and low >= 1)
            if first.whole
            else FloatDistribution(low, high, log=first.marked.log and low > 0)
        )
    room = max((highest - lowest) / 4, 0.2 * max(abs(lowest), abs(highest)))
    if first.whole:
        room = max(1, round(room))
        return IntDistribution(
            max(round(lowest) - room, -int(LONGEST)), min(round(highest) + room, int(LONGEST))
        )
    room = room or 1.0
    return FloatDistribution(lowest - room, highest + room)
