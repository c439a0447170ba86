"""What a kind of constraint is: its sentences, and its meaning three times over, each in the terms of another
engine.

    check     of values:    x[a] is the value of thing a, n the number of values          (search with propagation)
    clauses   of literals:  X(a, v) says that thing a has the value v, V lists the values  (SAT)
    view      of the whole: an order, `rooms` with their guests, or a set                  (enumeration)

The three are written separately, so that a mistake in one is outvoted; `tests/unit/families/test_worlds.py`
holds each against its own table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evolake.families.worlds.entries import entries

ENTITIES = "abc"
LETTERS = "abckl"
ARGUMENT = re.compile(r"\{([abckl])\}")
WORD = re.compile(r"\{(\w\w+)\}")


@dataclass(frozen=True)
class Kind:
    """A kind of constraint.

    args: letters of its arguments, in order: a, b, c are things, k and l numbers. patterns: sentences, with
    {a} for arguments and {be} for words of the theme. spans: for each number, the expression of the range it
    is drawn from. whole: whether it is about all things together, not about its arguments. label: what it is
    about, for titles.
    """

    name: str
    args: str
    patterns: tuple[str, ...]
    check: str
    clauses: str
    view: str
    spans: tuple[str, ...] = ()
    whole: bool = False
    label: str = "order"

    @property
    def things(self) -> int:
        """How many of the arguments are things; they come first."""
        return sum(letter in ENTITIES for letter in self.args)

    @property
    def signature(self) -> str:
        """Return the further parameters of a function of this kind, as source text."""
        return "".join(f", {letter}" for letter in self.args)

    def sentences(self, words: Mapping[str, str]) -> list[str]:
        """Return the patterns in the theme's words, arguments still open; one that needs a word which the
        theme lacks is left out."""
        usable = [pattern for pattern in self.patterns if set(WORD.findall(pattern)) <= set(words)]
        return [upper(WORD.sub(lambda match: words[match[1]], pattern)) for pattern in usable]


KINDS = entries("kinds", Kind, "row", "ring", "groups", "selection")
"""Structure -> its kinds. A view of a row or a ring is the tuple of things by place, of groups the tuple of sets by
group, of a selection the set of the chosen."""


def upper(sentence: str) -> str:
    """Return the sentence with a capital at its beginning."""
    return sentence[:1].upper() + sentence[1:]


def expression(
    sentence: str, names: Sequence[str], called: Mapping[str, str] | None = None
) -> tuple[str, str]:
    """Return (regular expression that matches exactly the sentences of a pattern, its arguments in the order
    of the groups).

    called: texts of numbers, where a theme calls them by its own words.
    """
    things = "|".join(re.escape(name) for name in names)
    parts, order, at = [], "", 0
    for match in ARGUMENT.finditer(sentence):
        parts.append(re.escape(sentence[at : match.start()]))
        parts.append(f"({things})" if match[1] in ENTITIES else r"(\d+)")
        order += match[1]
        at = match.end()
    return "".join([*parts, re.escape(sentence[at:])]), order
