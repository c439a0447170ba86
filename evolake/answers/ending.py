"""Where a reply has no box: the answer that it ends with, as far to the left as its form goes. docs/answers.md has what that decides, row by row.

What kind of answer is looked for follows from the label: a number, a list or mapping, a day, or as many words as the label has.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from evolake.answers.expressions import last_number, last_numbers, without_brackets
from evolake.answers.forms import read_date, read_time
from evolake.answers.quantities import CURRENCY_SIGNS, bare_value
from evolake.answers.reading import cleaned, final_part, number, structure
from evolake.answers.units import plain_units

AFTER = " \t\r\n.!?*_`$)\"'”’。！？"
"""What may follow an answer that a reply ends with."""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_PIECE = re.compile(r"\S+")
_EMPHASIS = re.compile(r"(?<![\w)*])\*{1,3}(?=[^\s*])|(?<=[^\s*])\*{1,3}(?![\w(*])|`")
_CLOSERS = {"]": "[", ")": "(", "}": "{"}
_LONGEST_DAY = 60
_JOINING = ",-+*/<>=:≤≥→×·÷"
_LEADING = frozenset(("so", "thus", "then", "therefore", "hence", "finally"))
"""Words before a comma that are no element of a list."""


@dataclass(frozen=True)
class Ending:
    """text: what is read as the answer. last: nothing but marks follows it."""

    text: str
    last: bool


def ending(reply: str, label: Any, units: Collection[str] = ()) -> Ending | None:
    """Return what the reply ends with, of the label's kind; None where nothing of it is there. Takes time in
    proportion to the reply's length.

    units: those that the question asks for (`asked_units`).
    """
    if isinstance(label, str):
        label = bare_value(label)
    counted = (isinstance(label, int | float) and not isinstance(label, bool)) or (isinstance(label, str) and number(cleaned(label)) is not None)
    final = final_part(reply)
    shown = cleaned(plain_units(final) if counted else final)
    text = _EMPHASIS.sub("", shown)
    if isinstance(label, list | tuple | dict):
        place = _brackets(text) or (_bare_list(text, label) if isinstance(label, list | tuple) else None)
    elif counted:
        place = last_number(text, units)
        place = place and (_moment(text, place[1]) or (place[0] - (text[place[0] - 1 : place[0]] in CURRENCY_SIGNS), place[1]))
    elif isinstance(label, str) and label and not (label[0].isalnum() and label[-1].isalnum()):
        text = shown
        place = _pieces(text, label)
    else:
        spelled = label if isinstance(label, str) else ""
        place = (_brackets(text) if text.rstrip(AFTER).endswith(("]", "}")) else None) or (
            _moment(text, len(text.rstrip(AFTER))) if read_date(spelled) or read_time(spelled) else None
        ) or _words(text, spelled)
    return None if place is None else Ending(without_brackets(text[place[0] : place[1]].strip()), not text[place[1] :].strip(AFTER))


def _words(text: str, label: str) -> tuple[int, int] | None:
    """Return the last words, as many as the label has."""
    words, count = list(_WORD.finditer(text)), max(1, len(_WORD.findall(label)))
    return (_joined(text, words[-count].start(), label), words[-1].end()) if len(words) >= count else None


def _pieces(text: str, label: str) -> tuple[int, int] | None:
    """Return the last pieces between blanks, with the marks that belong to them, but not those of code or
    bold type."""
    pieces, count = list(_PIECE.finditer(text)), len(label.split())
    if not 0 < count <= len(pieces):
        return None
    start, end = pieces[-count].start(), pieces[-1].end()
    shown = text[start:end].rstrip(".!?。！？")
    for mark in ("`", "**"):
        if shown.startswith(mark) and shown.endswith(mark) and len(shown) > 2 * len(mark) and not (label.startswith(mark) or label.endswith(mark)):
            return start + len(mark), start + len(shown) - len(mark)
        if shown.endswith(mark) and not label.endswith(mark) and text[:start].count(mark) % 2:
            end = start + len(shown) - len(mark)
    return _joined(text, start, label) if any(map(str.isalnum, label)) else start, end


def _joined(text: str, start: int, label: str) -> int:
    """Where the answer begins: before the piece that a mark joins to it (`-3x + 1` is no `3x + 1`), else at `start`.

    A comma, a colon, `=` or an arrow joins only what the label has joined by one, and a dash between blanks only what has digits or is reckoned.
    """
    if (repeated := _repeated(text, start)) < start:
        return repeated
    touching = text[max(0, start - 2) : start]
    digits = touching[:1].isdigit() and label[:1].isdigit()
    if len(touching) == 2 and touching[0].isalnum() and touching[1] in ("._^,:" if digits else "._^"):
        return _piece_before(text, start)
    before = text[:start].rstrip(" \t\"'")
    mark = before[len(before.rstrip(_JOINING)) :]
    inside = label[1:-1]
    if not mark or not (label[:1].isdigit() or len(label.split()) > 1 or any(item in inside for item in _JOINING)):
        return start
    apart = len(before) < start
    if mark == ",":
        joins = mark in inside and before[:-1].rpartition(" ")[2].strip().casefold() not in _LEADING
    elif mark == "=" or mark.endswith(("->", "=>", "→")):
        joins = mark in inside
    elif mark == ":":
        joins = mark in inside and not (apart and before[-2:-1].isalpha())
    else:
        joins = not apart or mark not in ("-", "*", "+") or any(item.isdigit() or item in "+-*/" for item in label)
    return _piece_before(text, len(before)) if joins else start


def _repeated(text: str, start: int) -> int:
    """Where a list begins whose last element begins at `start`, where it is quoted or like the one before it (`"red", "red"`); else `start`."""
    before = text[:start].rstrip(" \t\"'")
    quoted = start and text[start - 1] in "\"'"
    if before.endswith(",") and (quoted or before.endswith(text[start:].rstrip(AFTER) + ",")):
        return _piece_before(text, len(before))
    return start


def _piece_before(text: str, end: int) -> int:
    """Where the piece begins that ends there; of a mark alone, the piece before it on the line, too."""
    line = text.rfind("\n", 0, end) + 1
    pieces = text[line:end].rstrip(_JOINING + " \t")
    return line + max(pieces.rfind(" "), pieces.rfind("\t")) + 1


def _moment(text: str, end: int) -> tuple[int, int] | None:
    """Return the day or the time, of four pieces at most, that ends there."""
    from_here = max(0, end - _LONGEST_DAY)
    for piece in list(_PIECE.finditer(text, from_here, end))[-4:]:
        start = piece.start() + len(piece[0]) - len(piece[0].lstrip("*_`$(\"'“‘"))
        if read_date(text[start:end]) is not None or read_time(text[start:end]) is not None:
            return _repeated(text, start), end
    return None


def _brackets(text: str) -> tuple[int, int] | None:
    """Return the list or mapping whose last bracket the text ends with; all of them, where commas divide
    several. With what stands right before it, where that makes it another: a sign, an operator, a word."""
    end = len(text.rstrip(AFTER.replace(")", "")))
    start = _opening(text, end)
    if text[end - 1 : end] in _CLOSERS and (start is None or text.count('"', start, end) % 2):
        line = text.rfind("\n", 0, end) + 1  # a bracket inside a quoted text
        first = next((at for at in range(line, end) if text[at] in "[{"), None)
        if first is not None and structure(text[first:end]) is not None:
            start = first
    return None if start is None else (_reckoned(text, start), end)


def _opening(text: str, end: int) -> int | None:
    """Where the brackets open that close right before `end`, or the first of several between commas."""
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
    return start


def _reckoned(text: str, start: int) -> int:
    """Where what the bracket at `start` is reckoned with begins; `start` where nothing is."""
    touching, before = text[start - 1 : start] if start else "", text[:start].rstrip(" \t")
    mark, operand = before[-1:], before[:-1].rstrip(" \t")[-1:]
    if before.endswith(("->", "=>")):
        return start
    name = touching.isascii() and touching.isalnum()
    apart = mark in tuple("+*/^×·÷⋅√±≠<>≤≥~≈") and (operand or mark not in "*+")
    less = mark == "-" and (touching == "-" or operand in tuple("0123456789)]}"))
    return _piece_before(text, len(before)) if name or touching in tuple("+*") or apart or less else start


def _bare_list(text: str, label: Sequence[Any]) -> tuple[int, int] | None:
    """Return a list without its brackets: of numbers, all that there are between commas; of others, the last
    line, from as many words before its first comma on as the label's first element has."""
    end = len(text.rstrip(AFTER))
    if all(isinstance(item, int | float) and not isinstance(item, bool) for item in label):
        return last_numbers(text[:end])
    line = text.rfind("\n", 0, end) + 1
    comma = text.find(",", line, end)
    pieces = list(_PIECE.finditer(text, line, end if comma < 0 else comma))[-max(1, len(str(label[0]).split())) :]
    return (pieces[0].start(), end) if pieces else None
