"""Edits of texts that a model proposes: a text that is in a file exactly once is replaced, whatever the
file's line ends.

A model writes LF, whatever it was shown, and sees no byte order mark. So a search text is matched modulo line
ends, and the file keeps its own. Where an edit does not apply, the model needs the text that is there:
`replaced` names the nearest lines with their numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher

BOM = "\ufeff"
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_END = re.compile(r"\r\n|\r|\n")
_FINALISTS, _COMPARED_CHARS, _MOST_LINES_SHOWN, _MOST_LINES_COMPARED = 12, 2_000, 12, 5_000
_LEAST_RATIO = 0.4


@dataclass(frozen=True)
class Misfit:
    """Why an edit does not apply, in words for its author."""

    reason: str


@dataclass(frozen=True)
class Replaced:
    """A text after an edit. line: where the edit begins, from 1."""

    text: str
    line: int


def lines_of(text: str) -> list[str]:
    """Return the lines with their ends, which make up the text."""
    return _LINE.findall(text)


def end_of(line: str) -> str:
    """Return the end of a line; "" for the last one if it has none."""
    if line.endswith("\r\n"):
        return "\r\n"
    if line.endswith(("\r", "\n")):
        return line[-1:]
    return ""


def usual_end(text: str) -> str:
    """Return the line end that a text uses most often; LF if it has no line end."""
    counts = Counter(_END.findall(text))
    return max(("\n", "\r\n", "\r"), key=lambda end: counts[end])


def with_ends(text: str, end: str = "\n") -> str:
    """Return the text with this end at every line."""
    return _END.sub(end, text)


def has_only_lf(text: str) -> bool:
    """Return whether a text has no other line end than LF, and no byte order mark."""
    return "\r" not in text and not text.startswith(BOM)


def replaced(text: str, search: str, replace: str, name: str) -> Replaced | Misfit:
    """Replace a text that is in a file exactly once, modulo line ends; what is new gets the end that the file
    uses most often.

    name: of the file, for the reason.
    """
    new = replace if has_only_lf(text) else with_ends(replace, usual_end(text))
    if text.count(search) == 1:
        first = text.index(search)
        return Replaced(text[:first] + new + text[first + len(search) :], len(_END.findall(text[:first])) + 1)
    bare, wanted = with_ends(text.removeprefix(BOM)), with_ends(search).removeprefix(BOM)
    places = [match.start() for match in re.finditer(f"(?={re.escape(wanted)})", bare)] if wanted else []
    if len(places) != 1:
        return Misfit(_many(bare, places, name) if places else _none(bare, wanted, name))
    first, last = (_original_place(text, place) for place in (places[0], places[0] + len(wanted)))
    return Replaced(text[:first] + new + text[last:], bare.count("\n", 0, places[0]) + 1)


def _original_place(text: str, place: int) -> int:
    """Return the place in a text of a place in it without its byte order mark and with LF at every line."""
    lines, passed, result = lines_of(text.removeprefix(BOM)), 0, len(BOM) if text.startswith(BOM) else 0
    for line in lines:
        length = len(line) - len(end_of(line)) + bool(end_of(line))
        if passed + length > place:
            break
        passed, result = passed + length, result + len(line)
    return result + place - passed


def with_ends_of(before: str, after: str) -> str:
    """Return a whole new text with the line ends and the byte order mark of the file that it replaces, if it
    was written with LF."""
    if has_only_lf(before) or not has_only_lf(after):
        return after
    return (BOM if before.startswith(BOM) else "") + with_ends(after, usual_end(before))


def _many(text: str, places: list[int], name: str) -> str:
    lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in places[:6])
    return (
        f"`search` is {len(places)} times in {name}, wanted once: at lines {lines}; take more of the "
        "lines around it"
    )


def _none(text: str, wanted: str, name: str) -> str:
    said = f"`search` is 0 times in {name}, wanted once"
    return (
        f"{said}; the nearest text there is\n{near}"
        if (near := nearest_lines(text, wanted))
        else f"{said}, and nothing there is like it"
    )


def nearest_lines(text: str, wanted: str) -> str:
    """Return the lines of a text that are most like another text, with their numbers; "" if none are like
    it."""
    lines, asked = text.split("\n"), wanted.strip("\n").split("\n")
    if len(lines) > _MOST_LINES_COMPARED:
        lines = lines[:_MOST_LINES_COMPARED]
    stripped, keys = [line.strip() for line in lines], [line.strip() for line in asked]
    last = max(1, len(lines) - len(asked) + 1)
    hits = [
        sum(
            bool(key) and key == line
            for key, line in zip(keys, stripped[start : start + len(keys)], strict=False)
        )
        for start in range(last)
    ]
    finalists = (
        sorted(range(last), key=lambda start: (-hits[start], start))[:_FINALISTS]
        if any(hits)
        else _alike(stripped, keys, last)
    )
    goal = "\n".join(asked)[:_COMPARED_CHARS]
    found = [
        (_ratio("\n".join(lines[start : start + len(asked)])[:_COMPARED_CHARS], goal), -start)
        for start in finalists
    ]
    if not found or max(found)[0] < _LEAST_RATIO:
        return ""
    start = -max(found)[1]
    shown = lines[start : start + min(len(asked), _MOST_LINES_SHOWN)]
    return "\n".join(f"{number:5d}  {line}" for number, line in enumerate(shown, start + 1))


def _alike(lines: list[str], asked: list[str], last: int) -> list[int]:
    """Return starts at which the longest line asked for has the lines most like it."""
    place = max(range(len(asked)), key=lambda number: len(asked[number]))
    matcher = SequenceMatcher(None, "", asked[place][:_COMPARED_CHARS], autojunk=False)
    rated: list[tuple[float, int]] = []
    for start in range(last):
        if start + place < len(lines) and lines[start + place]:
            matcher.set_seq1(lines[start + place][:_COMPARED_CHARS])
            if matcher.real_quick_ratio() >= _LEAST_RATIO and matcher.quick_ratio() >= _LEAST_RATIO:
                rated.append((-matcher.quick_ratio(), start))
    return [start for _, start in sorted(rated)[:_FINALISTS]]


def _ratio(first: str, other: str) -> float:
    return SequenceMatcher(None, first, other, autojunk=False).ratio()
