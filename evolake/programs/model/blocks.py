"""What of a program may change: the lines between `EVOLVE-BLOCK-START` and `EVOLVE-BLOCK-END`, in a comment of any language; a file that is to evolve
and has no such marks is one block. The marks are those of OpenEvolve, so that its examples can be used as they are."""

from __future__ import annotations

from dataclasses import dataclass

START, END = "EVOLVE-BLOCK-START", "EVOLVE-BLOCK-END"


class BadBlocks(ValueError):
    """The marks of a text do not pair up."""


@dataclass(frozen=True)
class Blocks:
    """A text cut at its marks: `fixed` pieces, the lines of the marks included, with a block between each two of them."""

    fixed: tuple[str, ...]
    blocks: tuple[str, ...]

    def text(self) -> str:
        """The text again."""
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


def cut(text: str) -> Blocks:
    """Cuts a text at its marks. Raises BadBlocks where a start has no end, or an end no start."""
    fixed, blocks, held = [], [], ""
    inside = False
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        if START in line:
            if inside:
                raise BadBlocks(f"line {number}: a block starts inside a block")
            fixed.append(held + line)
            held, inside = "", True
        elif END in line:
            if not inside:
                raise BadBlocks(f"line {number}: a block ends that never started")
            blocks.append(held)
            held, inside = line, False
        else:
            held += line
    if inside:
        raise BadBlocks(f"the last {START} has no {END}")
    if not blocks:
        return Blocks(("", ""), (text,))
    return Blocks((*fixed, held), tuple(blocks))


def outside_change(initial: str, candidate: str) -> str:
    """What a candidate changed outside of the blocks of the initial text, in words; "" for nothing."""
    try:
        before, after = cut(initial), cut(candidate)
    except BadBlocks as error:
        return str(error)
    if before.fixed == after.fixed:
        return ""
    if len(before.fixed) != len(after.fixed):
        return f"it has {len(after.blocks)} blocks, the initial program {len(before.blocks)}"
    number = next(number for number, (first, other) in enumerate(zip(before.fixed, after.fixed, strict=True), 1) if first != other)
    return f"the text {'before block ' + str(number) if number <= len(before.blocks) else 'after the last block'} is not the initial program's"
