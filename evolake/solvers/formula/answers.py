"""Read a solver's output by the rules of the SAT competitions, and name everything that breaks them.

One line `s SATISFIABLE`, `s UNSATISFIABLE` or `s UNKNOWN` (minisat's word INDETERMINATE is taken as UNKNOWN);
after SATISFIABLE the model on lines `v ...`, ended by one 0. What else a solver prints is ignored.
Nothing is guessed: an answer that breaks a rule is reported with its problem, and its reader must not use it
as an answer.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

Answer = Literal["sat", "unsat", "unknown"]
WORDS: dict[bytes, Answer] = {
    b"SATISFIABLE": "sat",
    b"UNSATISFIABLE": "unsat",
    b"UNKNOWN": "unknown",
    b"INDETERMINATE": "unknown",
}
LARGEST_COUNT = 2.0**63
_STATUS = re.compile(rb"(?m)^s(?:[ \t]([^\n]*))?$")
_VALUES = re.compile(rb"(?m)^v(?:[ \t]([^\n]*))?$")
_JUNK = re.compile(rb"[^0-9 \t\r\n-]|-(?![1-9])|[0-9]-|[0-9]{11}|(?<![0-9])0[0-9]")


@dataclass(frozen=True)
class Reading:
    """answer: None when there is no status line, or several. model: int32 literals of a whole model; None
    otherwise. problems: rules broken."""

    answer: Answer | None
    model: np.ndarray | None = field(repr=False)
    problems: tuple[str, ...]


def read_answer(stdout: bytes) -> Reading:
    """Return what `stdout` says."""
    problems: list[str] = []
    answer: Answer | None = None
    said = [(result[1] or b"").strip() for result in _STATUS.finditer(stdout)]
    if len(said) > 1:
        problems.append(f"two answers: {', '.join(_quoted_bytes(word) for word in said[:3])}")
    elif said and said[0] not in WORDS:
        problems.append(f"status line that is none: {_quoted_bytes(said[0])}")
    elif said:
        answer = WORDS[said[0]]
    lines = [result[1] or b"" for result in _VALUES.finditer(stdout)]
    model = None
    if lines and answer != "sat":
        problems += [] if problems else ["a model without the answer SATISFIABLE"]
    elif lines:
        model = _read_model(b"\n".join(lines), problems)
    elif answer == "sat":
        problems.append("no model")
    if stdout and not stdout.endswith(b"\n") and re.search(rb"(?:^|\n)[sv][ \t][^\n]*$", stdout):
        problems.append("the last answer line has no end")
    return Reading(answer, model, tuple(problems))


def _read_model(data: bytes, problems: list[str]) -> np.ndarray | None:
    if junk := _JUNK.search(data):
        problems.append(
            "a model with something that is no literal: "
            f"{_quoted_bytes(data[max(0, junk.start() - 10) : junk.end() + 10])}"
        )
        return None
    numbers = np.fromstring(data, dtype=np.int64, sep=" ") if data.strip() else np.zeros(0, dtype=np.int64)
    if not len(numbers) or numbers[-1] != 0:
        problems.append("a model without its final 0")
        return None
    numbers = numbers[:-1]
    if (numbers == 0).any():
        problems.append("a model with a 0 in it")
        return None
    if len(numbers) and np.abs(numbers).max() > 2**31 - 1:
        problems.append("a model with a literal that is too large")
        return None
    if len(np.unique(numbers)) != len(np.unique(np.abs(numbers))):
        problems.append("a model that gives one variable both values")
        return None
    return numbers.astype(np.int32)


def without_model(stdout: bytes, longest: int) -> str:
    """Return the last `longest` characters of the output without its model lines: what a reader of a failed
    run wants to see."""
    return re.sub(rb"(?m)^v[ \t][^\n]*\n?", b"", stdout).decode("utf-8", "replace")[-longest:]


def read_counters(stdout: bytes, patterns: dict[str, str] | None) -> dict[str, float]:
    """Return counter -> number, for each pattern that is found; the last match counts. What no counter of 64
    bits holds is left out: it is none."""
    text = stdout.decode("utf-8", "replace")
    counters = {}
    for name, pattern in (patterns or {}).items():
        if result := re.findall(pattern, text, re.MULTILINE):
            with contextlib.suppress(ValueError):
                if 0 <= (value := float(result[-1])) < LARGEST_COUNT:
                    counters[name] = value
    return counters


def _quoted_bytes(data: bytes) -> str:
    return repr(data[:60].decode("ascii", "replace"))
