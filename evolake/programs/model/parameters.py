"""Numbers that a program marks as its parameters, in a comment of any language on the line of the number.

Two examples:

    #define BLOCK 8     /* EVOLVE-PARAM 1 256 int */
    let shrink = 0.7;   // EVOLVE-PARAM 0.1 1.0

The last number before the mark is the parameter; low and high follow, then `int` where it must be whole and
`log` where it is drawn on a log scale.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from evolake.programs.model.lines import python_comments
from evolake.text_edits import BOM, lines_of

MARK = "EVOLVE-PARAM"
NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")


@dataclass(frozen=True)
class Parameter:
    """One marked number: its place in the text, its value, and where it may be."""

    start: int
    end: int
    value: float
    low: float
    high: float
    whole: bool
    log: bool

    def written(self, value: float) -> str:
        """Return a value as it is written there, within the bounds."""
        held = min(max(value, self.low), self.high)
        return str(round(held)) if self.whole else repr(float(f"{held:.9g}"))


def parameters_in(text: str, name: str = "") -> list[Parameter]:
    """Return the marked numbers of a text, in order. name: of its file, whose ending says whether it is
    Python.

    Raises ValueError for a mark that cannot be understood. In a string of Python, which may be a docstring
    that speaks of marks or a kernel with some, such a mark is none.
    """
    result, place = [], len(BOM) if text.startswith(BOM) else 0
    comments = python_comments(text) if name.endswith(".py") and MARK in text else None
    for number, line in enumerate(lines_of(text[place:]), 1):
        if MARK in line:
            try:
                result.append(_parameter(line, number, place))
            except ValueError:
                if comments is None or MARK in comments.get(number, ""):
                    raise
        place += len(line)
    return result


def _parameter(line: str, number: int, place: int) -> Parameter:
    """Return the marked number of a line, which begins at `place`. Raises ValueError."""
    before, _, after = line.partition(MARK)
    numbers = list(NUMBER.finditer(before))
    words = after.replace("*/", " ").replace("-->", " ").split()
    try:
        low, high = float(words[0]), float(words[1])
    except (IndexError, ValueError):
        raise ValueError(f"line {number}: {MARK} wants `{MARK} LOW HIGH [int] [log]`") from None
    stray = set(words[2:]) - {"int", "log", "float"}
    bad = (
        not numbers
        or stray
        or not low < high
        or not math.isfinite(high - low)
        or ("log" in words and low <= 0)
    )
    if bad:
        why = (
            "no number stands before it"
            if not numbers
            else f"bounds {low:g} to {high:g}, {' '.join(words[2:]) or 'float'}"
        )
        raise ValueError(f"line {number}: {MARK} cannot be used: {why}")
    last = numbers[-1]
    return Parameter(
        place + last.start(),
        place + last.end(),
        float(last.group()),
        low,
        high,
        "int" in words,
        "log" in words,
    )


def with_values(text: str, values: list[tuple[Parameter, float]]) -> str:
    """Return the text with other values at marked numbers."""
    for parameter, value in sorted(values, key=lambda pair: -pair[0].start):
        text = text[: parameter.start] + parameter.written(value) + text[parameter.end :]
    return text
