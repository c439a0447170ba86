"""Sentences of a statement, and the quantities in them, in figures and in words.

A line of a list is its own sentence. What is in brackets or quotation marks is an example or data: a quantity
in it is the reader's affair, not that of the prose around it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from evolake.families.model.syntax import Unreadable, parse

_UNITS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
_TENS = ["thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ORDINALS = [
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
]
WORDS = (
    {word: number for number, word in enumerate(_UNITS)}
    | {word: 10 * number for number, word in enumerate(_TENS, start=3)}
    | {word: number for number, word in enumerate(_ORDINALS, start=3)}
    | {"dozen": 12, "hundred": 100, "thousand": 1000, "twice": 2, "both": 2}
)
"""Word -> the number that it says."""
_END = re.compile(r"(?<=[.!?;])[\"”’)]*\s+(?=[^\s])|(?<=[。！？；])|\n+")
_INITIAL = re.compile(r"^\s*\(?\d{1,3}\.$|\b(?:e\.g|i\.e|etc|vs|no|Mr|Mrs|Dr|[A-Z])\.$")
_NUMBER = re.compile(
    rf"(?<![\w.-])\d+(?![\w.]*\d)(?!\w)|\b(?:{'|'.join(sorted(WORDS, key=len, reverse=True))})\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}|“[^”]*”|‘[^’]*’|\"[^\"\n]*\"|`[^`\n]*`|（[^（）]*）")


@dataclass(frozen=True)
class Quantity:
    """A number of a text. start, end: where it is. word: whether it is said in letters."""

    start: int
    end: int
    value: int
    word: bool


def spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of each sentence, in order, without the space around it."""
    result, start = [], 0
    for match in [*_END.finditer(text), None]:
        stop = match.start() if match else len(text)
        if match and "\n" not in match[0] and _INITIAL.search(text[start:stop]):
            continue
        bare = text[start:stop]
        if bare.strip():
            result.append((start + len(bare) - len(bare.lstrip()), start + len(bare.rstrip())))
        start = match.end() if match else stop
    return result


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, in order."""
    return [text[start:end] for start, end in spans(text)]


def quantities(text: str) -> Iterator[Quantity]:
    """Yield the whole numbers of a text."""
    for match in _NUMBER.finditer(text):
        figure = match[0].isdigit()
        if len(match[0]) <= 15:
            yield Quantity(
                match.start(),
                match.end(),
                int(match[0]) if figure else WORDS[match[0].casefold()],
                not figure,
            )


def without_asides(text: str) -> str:
    """Return the text with what is in brackets and quotation marks blanked out, as long as before."""
    before = None
    while before != text:
        before, text = text, _ASIDE.sub(lambda match: " " * len(match[0]), text)
    return text


_BULLET = re.compile(r"\s*(?:[-*•]|\(?\d{1,3}[.)])\s+")
_SLOT = re.compile(r"\{([A-Za-z_]\w*)\}")
DECLARATION = "SENTENCES"
"""The name that a reader assigns its patterns to."""
ALWAYS = "always"


@dataclass(frozen=True)
class Pattern:
    """One sentence that a family may say. code: the function or constant of the validators that holds the
    rule, with a question mark behind it where a statement may leave the sentence out; ALWAYS for a sentence
    that is in every statement and that no code is named for; "" for one that may be missing. A pattern with
    the mark of a list fits lines of lists only.
    """

    text: str
    code: str

    @property
    def needed(self) -> bool:
        """Whether every statement says it."""
        return bool(self.code) and not self.code.endswith("?")

    @property
    def holder(self) -> str:
        """The function or constant that holds the rule, "" if none is named."""
        return "" if self.code == ALWAYS else self.code.removesuffix("?")

    @property
    def constants(self) -> tuple[str, ...]:
        """The constants of the code whose values the sentence says."""
        return tuple(name for name in _SLOT.findall(self.text) if name.isupper())

    def values(self, sentence: str) -> dict[str, str] | None:
        """Return what is in the slots, None where the sentence is another. Each slot takes as little as it
        can: patterns are a candidate's, and so are matched piece by piece from the left, in time that no
        pattern stretches.
        """
        if _BULLET.match(self.text) and not _BULLET.match(sentence):
            return None
        names, pieces = (
            _SLOT.findall(plain_sentence(self.text)),
            [piece.casefold() for piece in _SLOT.split(plain_sentence(self.text))[::2]],
        )
        bare = plain_sentence(sentence)
        folded = bare.casefold() if len(bare.casefold()) == len(bare) else bare
        if not folded.startswith(pieces[0]):
            return None
        result, at = {}, len(pieces[0])
        for number, (name, piece) in enumerate(zip(names, pieces[1:], strict=True), start=1):
            last = number == len(names)
            if last and folded.endswith(piece):
                place = len(folded) - len(piece)
            elif last:
                place = -1
            else:
                place = folded.find(piece, at + 1)
            if place < at + 1 or result.get(name, bare[at:place]) != bare[at:place]:
                return None
            result[name], at = bare[at:place], place + len(piece)
        return result if at == len(folded) else None


def plain_sentence(text: str) -> str:
    """Return the sentence on one line, without the mark of a list before it and the point behind it."""
    return " ".join(_BULLET.sub("", text, count=1).split()).rstrip(" .;。；")


def said_number(text: str) -> int | None:
    """Return the number that a slot holds, in figures or in words, None where it holds another thing."""
    bare = text.strip().casefold()
    return int(bare) if bare.isdigit() and len(bare) <= 15 else WORDS.get(bare)


def declared(reader: str | None) -> tuple[Pattern, ...] | None:
    """Return the patterns that a reader declares; None where it declares none. Those of a parent's reader
    inside a child's are not the child's: they leave out what the operator says. Raises ValueError for another
    form.
    """
    if reader is None or DECLARATION not in reader:
        return None
    try:
        tree = parse(reader)
    except Unreadable:
        return None
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == DECLARATION for target in node.targets
        ):
            try:
                value = ast.literal_eval(node.value)
            except ValueError:
                value = None
            if not isinstance(value, dict) or not all(
                isinstance(item, str) for pair in value.items() for item in pair
            ):
                raise ValueError(f"{DECLARATION} is no mapping of patterns to names, written out")
            return tuple(Pattern(text, code) for text, code in value.items())
    return None
