"""A program as text: which of its lines may change, which of its numbers are parameters, and its syntax tree.

What may change are the lines between `EVOLVE-BLOCK-START` and `EVOLVE-BLOCK-END`, in a comment of any
language (the marks of OpenEvolve, so that its examples can be used); a file that is to evolve and has no
marks is one block. In Python only a comment is a mark, as Python reads the file: not a docstring that speaks
of marks, and not a comment that names both. So a block that opens a string which swallows its end mark has no
end. In other languages every line with one of the words is a mark.

Python ends a line at LF, CRLF or a lone CR and nowhere else (`str.splitlines` also at form feeds and other
characters), and a byte order mark at the start is no part of the text. Texts keep both as they are in their
files.

A number is a parameter if a comment on its line marks it:

    #define BLOCK 8     /* EVOLVE-PARAM 1 256 int */
    let shrink = 0.7;   // EVOLVE-PARAM 0.1 1.0

The last number before the mark is the parameter; low and high follow, then `int` where it must be whole and
`log` where it is drawn on a log scale.
"""

from __future__ import annotations

import ast
import io
import math
import re
import tokenize
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from evolake.parsing import Unreadable as Unreadable
from evolake.parsing import bounded
from evolake.text_edits import BOM, end_of, has_only_lf, lines_of, usual_end, with_ends


@lru_cache(maxsize=64)
def python_comments(text: str) -> dict[int, str]:
    """Return line (from 1) -> comment, of the comments that Python sees: a `#` in a string or docstring
    begins none.

    Of a text that has no tokens (a string without its end), the lines that begin with `#`: such a program
    cannot run, and other gates block it.
    """
    plain = with_ends(text.removeprefix(BOM))
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(plain).readline))
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError, MemoryError):
        return {
            number: line.strip()
            for number, line in enumerate(plain.split("\n"), 1)
            if line.strip().startswith("#")
        }
    return {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}


START, END = "EVOLVE-BLOCK-START", "EVOLVE-BLOCK-END"


class BadBlocks(ValueError):
    """The marks of a text do not pair up."""


@dataclass(frozen=True)
class Blocks:
    """A text cut at its marks: `fixed` pieces, the lines of the marks included, with a block between each two
    of them."""

    fixed: tuple[str, ...]
    blocks: tuple[str, ...]

    def text(self) -> str:
        """Return the text again."""
        return "".join(piece for pair in zip(self.fixed, (*self.blocks, ""), strict=True) for piece in pair)

    def spans(self) -> list[tuple[int, int]]:
        """From where to where in the text each block reaches."""
        result, place = [], 0
        for fixed, block in zip(self.fixed, (*self.blocks, ""), strict=True):
            place += len(fixed)
            if len(result) < len(self.blocks):
                result.append((place, place + len(block)))
            place += len(block)
        return result


@lru_cache(maxsize=64)
def cut(text: str, name: str = "") -> Blocks:
    """Cut a text at its marks. name: of its file, whose ending says whether it is Python.

    Raises BadBlocks if a start has no end, an end no start, or a line outside Python names both.
    """
    bom = BOM if text.startswith(BOM) else ""
    fixed, blocks, held = [], [], bom
    inside = False
    comments = python_comments(text) if name.endswith(".py") and (START in text or END in text) else None
    for number, line in enumerate(lines_of(text.removeprefix(BOM)), 1):
        mark = _mark(
            line if comments is None else comments.get(number, ""), number, python=comments is not None
        )
        if mark == START:
            if inside:
                raise BadBlocks(f"line {number}: a block starts inside a block")
            fixed.append(held + line)
            held, inside = "", True
        elif mark == END:
            if not inside:
                raise BadBlocks(f"line {number}: a block ends that never started")
            blocks.append(held)
            held, inside = line, False
        else:
            held += line
    if inside:
        raise BadBlocks(f"the last {START} has no {END}")
    if not blocks:
        return Blocks((bom, ""), (text.removeprefix(BOM),))
    return Blocks((*fixed, held), tuple(blocks))


def _mark(text: str, number: int, *, python: bool) -> str:
    """Return START or END if a line's text is a mark, else ""."""
    if START in text and END in text:
        if python:
            return ""
        raise BadBlocks(f"line {number} names both {START} and {END}: each mark needs a separate line")
    if START in text:
        return START
    if END in text:
        return END
    return ""


def outside_change(initial: str, candidate: str, name: str = "") -> str:
    """Return what a candidate changed outside of the blocks of the initial text, in words; "" for nothing.
    name: of the file."""
    try:
        before, after = cut(initial, name), cut(candidate, name)
    except BadBlocks as error:
        return str(error)
    if before.fixed == after.fixed:
        return ""
    if len(before.fixed) != len(after.fixed):
        return f"it has {len(after.blocks)} blocks, the initial program {len(before.blocks)}"
    number = next(
        number
        for number, (first, other) in enumerate(zip(before.fixed, after.fixed, strict=True), 1)
        if first != other
    )
    return (
        "the text "
        f"{'before block ' + str(number) if number <= len(before.blocks) else 'after the last block'} is "
        "not the initial program's"
    )


def as_kept(parent: str, child: str, name: str = "") -> str:
    """Return the child's text with the parent's bytes wherever only line ends or the byte order mark differ.

    A model writes LF whatever it was shown. What is outside the blocks, and each line of a block that is the
    same but for its end, stays as the parent has it; a new line gets the end that the parent's block uses
    most often. A child with other text outside its blocks stays as it is: a gate names it.
    """
    if has_only_lf(parent) and has_only_lf(child):
        return child
    try:
        before, after = cut(parent, name), cut(child, name)
    except BadBlocks:
        return child
    if [_plain(piece) for piece in before.fixed] != [_plain(piece) for piece in after.fixed]:
        return child
    blocks = (
        _with_lines_of(old, new, usual_end(old or parent))
        for old, new in zip(before.blocks, after.blocks, strict=True)
    )
    kept = Blocks(before.fixed, tuple(blocks))
    return kept.text() if _plain(kept.text()) == _plain(child) else child


def _plain(text: str) -> str:
    return with_ends(text.removeprefix(BOM))


def _with_lines_of(old: str, new: str, end: str) -> str:
    """Return the new block with the old one's line ends: a line that is the same or is in another's place has
    that one's, any other has `end`."""
    own, lines = lines_of(old), [with_ends(line) for line in lines_of(new)]
    ends = [end] * len(lines)
    for _, start, stop, place, until in SequenceMatcher(
        None, [with_ends(line) for line in own], lines, autojunk=False
    ).get_opcodes():
        for line, number in zip(own[start:stop], range(place, until), strict=False):
            ends[number] = end_of(line) or end
    written = ""
    for line, its_end in zip(lines, ends, strict=True):
        bare = line.removesuffix("\n")
        if not bare and its_end == "\n" and written.endswith("\r"):
            its_end = "\r"  # LF after CR would be one line end with it
        written += bare + (its_end if line.endswith("\n") else "")
    return written


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


LONGEST = 200_000
"""Characters of a file."""
HEAD = 4000
"""Characters in which a declaration of an encoding is looked for."""


def parse(source: str) -> ast.Module:
    """Return the tree of a source.

    Raises Unreadable: too long, too deep, not to be parsed, or declared to be in another encoding than UTF-8,
    by which Python would read its file as another text.
    """
    if (encoding := declared_encoding(source)) != "utf-8":
        raise Unreadable(f"declares the encoding {encoding}: only UTF-8 is read")
    return bounded(source.removeprefix(BOM), LONGEST)


@lru_cache(maxsize=16)
def read_only_tree(source: str) -> ast.Module:
    """Return the tree of `parse`, remembered for the next reader: not to be changed. Raises Unreadable."""
    return parse(source)


def declared_encoding(source: str) -> str:
    """Return the encoding that the first two lines of a Python file declare, in the spelling of `tokenize`;
    utf-8 if they declare none."""
    head = "".join(lines_of(source.removeprefix(BOM)[:HEAD])[:2])
    if "coding" not in head:
        return "utf-8"
    try:
        return tokenize.detect_encoding(io.BytesIO(with_ends(head).encode("utf-8", "replace")).readline)[0]
    except SyntaxError as error:
        return str(error)


class Places:
    """Where nodes of a tree are in the text that it was parsed from. Python counts columns in bytes of UTF-8,
    and none for a byte order mark; texts are cut by characters."""

    def __init__(self, text: str):
        self.text = text
        self._shift = len(BOM) if text.startswith(BOM) else 0
        self._lines = [*lines_of(text[self._shift :]), ""]
        self._starts = [self._shift]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def at(self, line: int, column: int) -> int:
        """Return the place in the text of a line (from 1) and a column (in bytes)."""
        text = self._lines[line - 1]
        return self._starts[line - 1] + (
            column if text.isascii() else len(text.encode()[:column].decode("utf-8", "ignore"))
        )

    def lines(self, first: int, last: int) -> tuple[int, int]:
        """From where to where in the text lines reach, with their ends; from 1, the last one included."""
        return self._starts[first - 1], self._starts[last]

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """From where to where a node reaches."""
        return self.at(node.lineno, node.col_offset), self.at(
            node.end_lineno or node.lineno, node.end_col_offset or 0
        )
