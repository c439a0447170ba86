"""Where a reply has no box: the answer that it ends with, as far to the left as its form goes. docs/answers.md has what that decides, row by row.

What kind of answer is looked for follows from the label: a number, a list or mapping, a day, or as many words as the label has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evolake.answers.expressions import last_number, last_numbers
from evolake.answers.forms import read_date
from evolake.answers.reading import cleaned, number

AFTER = " \t\r\n.!?*_`$)\"'”’。！？"
"""What may follow an answer that a reply ends with."""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_PIECE = re.compile(r"\S+")
_EMPHASIS = re.compile(r"(?<![\w)*])\*{1,3}(?=[^\s*])|(?<=[^\s*])\*{1,3}(?![\w(*])|`")
_CLOSERS = {"]": "[", ")": "(", "}": "{"}
_LONGEST_DAY = 60


@dataclass(frozen=True)
class Ending:
    """text: what is read as the answer. last: nothing but marks follows it."""

    text: str
    last: bool


def ending(reply: str, label: Any) -> Ending | None:
    """What the reply ends with, of the label's kind; None where nothing of it is there. Takes time in proportion to the reply's length."""
    shown = cleaned(reply)
    text = _EMPHASIS.sub("", shown)
    if isinstance(label, list | tuple | dict):
        place = _brackets(text) or (_bare_list(text, label) if isinstance(label, list | tuple) else None)
    elif (isinstance(label, int | float) and not isinstance(label, bool)) or (isinstance(label, str) and number(cleaned(label)) is not None):
        place = last_number(text)
        place = place and (_day(text, place[1]) or place)
    elif isinstance(label, str) and label and not (label[0].isalnum() and label[-1].isalnum()):
        text = shown
        place = _pieces(text, len(label.split()))
    else:
        spelled = label if isinstance(label, str) else ""
        place = (_brackets(text) if text.rstrip(AFTER).endswith(("]", "}")) else None) or (
            _day(text, len(text.rstrip(AFTER))) if read_date(spelled) else None
        ) or _words(text, max(1, len(_WORD.findall(spelled))))
    return None if place is None else Ending(text[place[0] : place[1]].strip(), not text[place[1] :].strip(AFTER))


def _words(text: str, count: int) -> tuple[int, int] | None:
    words = list(_WORD.finditer(text))
    return (words[-count].start(), words[-1].end()) if len(words) >= count else None


def _pieces(text: str, count: int) -> tuple[int, int] | None:
    """The last pieces between blanks, with the marks that belong to them."""
    pieces = list(_PIECE.finditer(text))
    return (pieces[-count].start(), pieces[-1].end()) if len(pieces) >= count > 0 else None


def _day(text: str, end: int) -> tuple[int, int] | None:
    """The day, of four pieces at most, that ends there."""
    from_here = max(0, end - _LONGEST_DAY)
    for piece in list(_PIECE.finditer(text, from_here, end))[-4:]:
        start = piece.start() + len(piece[0]) - len(piece[0].lstrip("*_`$(\"'“‘"))
        if read_date(text[start:end]) is not None:
            return start, end
    return None


def _brackets(text: str) -> tuple[int, int] | None:
    """The list or mapping whose last bracket the text ends with; all of them, where commas divide several."""
    end = len(text.rstrip(AFTER.replace(")", "")))
    wanted: list[str] = []
    start = None
    for place in range(end - 1, -1, -1):
        mark = text[place]
        if mark in _CLOSERS:
            wanted.append(_CLOSERS[mark])
        elif not wanted and not (start is not None and mark in ", "):
            break
        elif mark in "[({":
            if mark != wanted.pop():
                return None
            start = start if wanted else place
    return None if start is None else (start, end)


def _bare_list(text: str, label: Sequence[Any]) -> tuple[int, int] | None:
    """A list without its brackets: of numbers, all that there are between commas; of others, the last line, from as many words before its first
    comma on as the label's first element has."""
    end = len(text.rstrip(AFTER))
    if all(isinstance(one, int | float) and not isinstance(one, bool) for one in label):
        return last_numbers(text[:end])
    line = text.rfind("\n", 0, end) + 1
    comma = text.find(",", line, end)
    pieces = list(_PIECE.finditer(text, line, end if comma < 0 else comma))[-max(1, len(str(label[0]).split())) :]
    return (pieces[0].start(), end) if pieces else None
