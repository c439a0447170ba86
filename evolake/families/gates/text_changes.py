"""Statements with one thing changed, to see whether who reads them takes notice: a sentence gone, a quantity
another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evolake.families.model.contract import Family
from evolake.families.model.plain_facts import without_plain_facts
from evolake.families.model.sentences import WORDS, Quantity, quantities, spans, without_asides
from evolake.families.model.statement import QUESTION_LINE, SLOT, fill, stated

LEAST = 2
"""A smaller number ("numbered from 1") says nothing that could be another."""
MOST_SENTENCES = 40
MOST_WORDS = 500
_WORD = re.compile(r"[^\W\d_\u4e00-\u9fff]+|[\u4e00-\u9fff]{1,2}")
_EXAMPLE = re.compile(r"[\"“‘`\[][^\"”’`\]\n]*\d[^\"”’`\]\n]*[\"”’`\]]")
_RUN = re.compile(r"\d+,\s*\d+,\s*(?:\d+,\s*)*(?:\.\.\.|…)|\b\w+ \d+, \w+ \d+, (?:\.\.\.|…)")
_PLACE = re.compile(r"^\s*\(?\d{1,3}[.)]\s", re.MULTILINE)
_AS_WORD: dict[int, str] = {}
for _word, _number in WORDS.items():
    if _word not in ("twice", "both", "dozen"):
        _AS_WORD.setdefault(_number, _word)


@dataclass(frozen=True)
class Change:
    """One change of the template. kind: "sentence", "quantity" or "word". what: the sentence that is gone, or
    the one that the quantity is in."""

    kind: str
    what: str
    template: str
    value: int = 0


def text_changes(family: Family) -> list[Change]:
    """Return each sentence gone, and each fixed quantity another, one at a time."""
    template = stated(family)
    result: list[Change] = []
    for start, end in spans(template)[:MOST_SENTENCES]:
        sentence = template[start:end]
        if QUESTION_LINE.fullmatch(sentence) or not any(
            character.isalpha() for character in SLOT.sub("", sentence)
        ):
            continue
        result.append(Change("sentence", sentence, template[:start] + template[end:]))
        for quantity in fixed_quantities(sentence, template[end:].split("\n")[1:]):
            other = sentence[: quantity.start] + another(quantity) + sentence[quantity.end :]
            result.append(
                Change("quantity", sentence, template[:start] + other + template[end:], quantity.value)
            )
    return result


def word_changes(family: Family) -> list[Change]:
    """Return each word of each sentence gone, one at a time. `what` is the sentence, with the word between
    asterisks."""
    template = stated(family)
    return [
        Change("word", shown, template[:start] + template[end:])
        for start, end, shown in word_places(template)
    ]


def word_places(template: str) -> list[tuple[int, int, str]]:
    """Return (start, end, sentence with the word between asterisks) of each word that the template itself
    says; of Chinese, two characters are a word."""
    result = []
    for start, end in spans(template)[:MOST_SENTENCES]:
        sentence = template[start:end]
        if not QUESTION_LINE.fullmatch(sentence):
            for word in _WORD.finditer(SLOT.sub(lambda match: " " * len(match[0]), sentence)):
                first, last = word.span()
                result.append(
                    (start + first, start + last, f"{sentence[:first]}*{word[0]}*{sentence[last:]}")
                )
    return result[:MOST_WORDS]


def fixed_quantities(sentence: str, following: Sequence[str] = ()) -> list[Quantity]:
    """Return the quantities that the sentence itself says: not those of slots, examples, asides, plain facts
    such as dates, and of runs as "1, 2, 3,
    ...".

    following: the lines after the sentence, which may be the list that a number counts.
    """
    bare = SLOT.sub(lambda match: " " * len(match[0]), sentence)
    if _EXAMPLE.search(bare):
        return []
    for expression in (_RUN, _PLACE):
        bare = expression.sub(lambda match: " " * len(match[0]), bare)
    return [
        quantity
        for quantity in quantities(without_asides(without_plain_facts(bare, following)))
        if quantity.value >= LEAST
    ]


def another(item: Quantity) -> str:
    """Return another number in its place."""
    return _AS_WORD.get(item.value + 1, "seventeen") if item.word else str(item.value + 1)


def slot_changes(template: str, slot_texts: Sequence[str], ways: Sequence[int]) -> list[tuple[int, str]]:
    """Return (slot from 1 on, statement in which its number is another) for each slot that is a single
    number. ways: one more, half as much, one less, twice as much, by their places in this list; below 4."""
    result = []
    for slot, text in enumerate(slot_texts, start=1):
        if re.fullmatch(r"\s*\d{1,12}\s*", text):
            value = int(text)
            others = (value + 1, value // 2, value - 1, 2 * value) if value else (1, 2, 3, 4)
            for other in dict.fromkeys(str(others[way]) for way in ways):
                result.append((slot, fill(template, [*slot_texts[: slot - 1], other, *slot_texts[slot:]])))
    return result


def sentence_of_slot(template: str, slot: int) -> str:
    """Return the sentence that a slot is in, with # for every slot; the one before it where it is the whole
    of a sentence."""
    before = ""
    for start, end in spans(template):
        shown = " ".join(SLOT.sub("#", template[start:end]).split())
        bare = shown if any(character.isalpha() for character in shown) else before
        if str(slot) in SLOT.findall(template[start:end]):
            return bare
        before = bare
    return ""
