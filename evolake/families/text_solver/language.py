"""Sentences, patterns and the strict reader: what no pattern matches is unread.

A pattern is plain text with `{places}`. A place whose name a table fills ("{first}") is replaced by
the table's words before reading; what is left has a type by its name: `{a}` to `{f}` one name,
`{k}` to `{q}` one whole number, `{list}` names joined by commas and "and"; a place that stands twice
holds the same twice. `[x|y]` is a choice of words. Patterns match whole sentences only, and no
piece of one can match in two ways, so that matching takes time linear in the sentence.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

LONGEST_TEXT = 40_000
NAME = r"[A-Z][A-Za-z']*"
NUMBER = r"\d{1,6}"
NEVER = "(?!)"  # a place for which the setting has no words: its sentences are none of this setting
TYPES = {
    **dict.fromkeys("abcdef", NAME),
    **dict.fromkeys("klmnpq", NUMBER),
    "list": rf"{NAME}(?:, {NAME})*(?: and {NAME})?",
    "anylist": rf"{NAME}(?:, {NAME})*(?: (?:and|or) {NAME})?",
    "numbers": rf"{NUMBER}(?:, {NUMBER})*(?: and {NUMBER})?",
    "words": r"[a-z]+(?:, [a-z]+)*",
    "word": r"[a-z]+",
    "letters": r"[A-Z]+",
    "counts": rf"{NUMBER} [a-z]+(?:, {NUMBER} [a-z]+)*(?: and {NUMBER} [a-z]+)?",
}
COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


class Unreadable(Exception):
    """A part of the text that has no known meaning; `str()` is that part, or why it has none."""


class Unanswerable(Exception):
    """The text was read, and no answer fits it; `str()` is why."""


@dataclass(frozen=True)
class Meaning:
    """What a text asks. `find` returns an answer; `fault` is None where one answer is right, else
    it returns why a given answer is wrong, or an empty string. `rules`: the sentences behind it."""

    find: Callable[[], Any]
    fault: Callable[[Any], str] | None = None
    rules: list[str] = field(default_factory=list)


@lru_cache(maxsize=20_000)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the whole-sentence expression of a pattern whose table words are filled in."""
    seen: set[str] = set()
    pieces = re.split(r"(\{\w+\}|\[[^\]]*\])", pattern)
    return re.compile("".join(_piece(piece, seen) for piece in pieces) + r"\Z")


def _piece(piece: str, seen: set[str]) -> str:
    if piece.startswith("["):
        return "(?:" + "|".join(re.escape(choice) for choice in piece[1:-1].split("|")) + ")"
    if not piece.startswith("{"):
        return re.escape(piece)
    name = piece[1:-1]
    if name in seen:
        return f"(?P={name})"
    kind = TYPES.get(name.rstrip("0123456789"))
    if kind is None:
        return NEVER
    seen.add(name)
    return f"(?P<{name}>{kind})"


def filled(pattern: str, words: dict[str, Any]) -> str:
    """Return `pattern` with the places that `words` names replaced, twice, as words may hold
    places."""
    for _ in range(2):
        pattern = re.sub(r"\{(\w+)\}", lambda found: str(words.get(found[1], found[0])), pattern)
    return pattern


def match(pattern: str, sentence: str) -> dict[str, Any] | None:
    """Return the values of a pattern's places in `sentence`, or None; numbers are int, lists
    list."""
    found = compiled(pattern).match(sentence)
    if found is None:
        return None
    return {name: _value(name.rstrip("0123456789"), text) for name, text in found.groupdict().items()}


def _value(kind: str, text: str) -> Any:
    if TYPES[kind] == NUMBER:
        return int(text)
    if kind in {"list", "anylist"}:
        return re.split(", | and | or ", text)
    if kind == "numbers":
        return [int(number) for number in re.split(", | and ", text)]
    if kind == "counts":
        pairs = [item.split(" ") for item in re.split(", | and ", text)]
        return [(word, int(number)) for number, word in pairs]
    if kind == "words":
        return text.split(", ")
    return text


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, one of a list's items each (with its "- " or "(1) ")."""
    if len(text) > LONGEST_TEXT:
        raise Unreadable(f"too large: {len(text)} characters, at most {LONGEST_TEXT}")
    return [
        sentence
        for line in text.split("\n")
        for sentence in re.split(r"(?<=[.?]) (?=[A-Z])", line)
        if sentence
    ]


class Reader:
    """Reads sentences one after another; nothing can be passed over. chosen: those whose meaning a
    table has, which are the rules and clues."""

    def __init__(self, sentences: list[str], words: dict[str, Any] | None = None):
        self.rest = list(reversed(sentences))
        self.chosen: list[str] = []
        self.words = words or {}

    @property
    def next(self) -> str:
        """The next sentence; empty at the end."""
        return self.rest[-1] if self.rest else ""

    def take(self, *patterns: str) -> dict[str, Any]:
        """Read the next sentence by one of `patterns`; raise Unreadable if none matches."""
        found = self.maybe(*patterns)
        if found is None:
            raise Unreadable(self.next or "the text ends too early")
        return found

    def maybe(self, *patterns: str) -> dict[str, Any] | None:
        """Read the next sentence by one of `patterns`, or leave it and return None."""
        for pattern in patterns:
            found = match(filled(pattern, self.words), self.next)
            if found is not None:
                self.rest.pop()
                return found
        return None

    def choose(self, meanings: dict[str, list[str]], start: str = "") -> tuple[str, dict[str, Any]]:
        """Read the next sentence; return the meaning's name and the values. `meanings` holds the
        patterns by meaning, `start` is what stands ahead of each."""
        found = self.maybe_choose(meanings, start)
        if found is None:
            raise Unreadable(self.next or "the text ends too early")
        return found

    def maybe_choose(
        self, meanings: dict[str, list[str]], start: str = ""
    ) -> tuple[str, dict[str, Any]] | None:
        """As `choose`, but return None where no pattern matches."""
        for meaning, patterns in meanings.items():
            sentence = self.next
            found = self.maybe(*(start + pattern for pattern in patterns))
            if found is not None:
                self.chosen.append(sentence)
                return meaning, found
        return None

    def items(self, meanings: dict[str, list[str]]) -> list[tuple[str, dict[str, Any]]]:
        """Read all items ("- ...") of a list that stands here."""
        found = []
        while self.next.startswith("- "):
            found.append(self.choose(meanings, "- "))
        return found

    def question(self, questions: dict[str, list[str]]) -> tuple[str, dict[str, Any]]:
        """Read all that is left as one of whole `questions`; return its name and the values."""
        return Reader([" ".join(reversed(self.rest))], self.words).choose(questions)

    def end(self) -> None:
        """Raise Unreadable if anything is left."""
        if self.rest:
            raise Unreadable(self.next)


@lru_cache(maxsize=64)
def table(kind: str) -> dict[str, Any]:
    """Return the sentence table of a kind of question."""
    return tomllib.loads(Path(__file__).with_name(f"{kind}.toml").read_text(encoding="utf-8"))


def known(names: list[str], values: dict[str, Any]) -> dict[str, Any]:
    """Return `values`; raise Unreadable if one of their names is not among `names`."""
    for place, value in values.items():
        kind = place.rstrip("0123456789")
        named = value if kind in {"list", "anylist"} else [value]
        if TYPES[kind] in {NAME, TYPES["list"], TYPES["anylist"]} and set(named) - set(names):
            raise Unreadable(f"unknown name in: {value}")
    return values


def opened(kind: str, text: str, key: str = "settings") -> tuple[Reader, dict[str, Any], dict[str, Any]]:
    """Read the opening of a text by the setting (of table `kind`) whose opening sentences match.

    Returns the reader after the opening, the values of its places, and the setting's words.
    """
    rows = table(kind)[key]
    furthest = text.split("\n")[0]
    for row in rows:
        reader = Reader(sentences(text), row)
        values: dict[str, Any] = {}
        for pattern in row["opening"]:
            found = reader.maybe(pattern)
            if found is None:
                break
            values |= found
            furthest = reader.next or furthest
        else:
            return reader, values, row
    raise Unreadable(furthest)


def read_kind(
    name: str, kinds: Mapping[str, Callable[[Reader, dict[str, Any]], Meaning | Callable[[], Any]]], text: str
) -> Meaning:
    """Return the meaning of a text of one of the `kinds` of table `name`, in the words of one of its themes.

    A table's `begin` is read first. Raises Unreadable with the part that has no meaning, of the kind
    that came furthest.
    """
    furthest, unread = len(text) + 1, ""
    for kind, reads in kinds.items():
        tables = table(name)[kind]
        for words in tables.get("themes", [{}]):
            reader = Reader(sentences(text), words)
            try:
                for sentence in tables.get("begin", ()):
                    reader.take(sentence)
                made = reads(reader, tables)
                return made if isinstance(made, Meaning) else Meaning(made, rules=reader.chosen)
            except Unreadable as why:
                if len(reader.rest) < furthest:
                    furthest, unread = len(reader.rest), str(why)
    raise Unreadable(unread)
