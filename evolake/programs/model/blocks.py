"""What of a program may change: the lines between `EVOLVE-BLOCK-START` and `EVOLVE-BLOCK-END`, in a comment
of any language; a file that is to evolve and has no such marks is one block. The marks are those of
OpenEvolve, so that its examples can be used as they are.

In Python only a comment is a mark, as Python reads the file: not a docstring that speaks of marks, and not a
comment that names both. So code that is inside a string is no fixed code either: a block that opens a string
which swallows its end mark has no end. In other languages every line with one of the words is a mark.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from evolake.programs.model.lines import python_comments
from evolake.text_edits import BOM, end_of, has_only_lf, lines_of, usual_end, with_ends

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
