"""Faults of wording: one word or phrase of a statement is another, while every program of the family, its
reader too, stays as it is.

They were written after the gates, to see what these make of what nobody had in mind. Where the reader reads
the word, it refuses and the family is blocked. Where it does not, no program can know better, and the
evidence of the gate `sentences` names the word among those that nobody reads (`named`): that is the promise,
blocked or named.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from evolake.families.gates.changes import word_places
from evolake.families.model.contract import Family
from evolake.families.model.source_code import NotComposable
from evolake.families.model.statement import RULE, SLOT, join_question, split_question, stated

FOREIGN = "Whatever is named twice counts once."
Rewording = Callable[[Family], Family]


def _words(*pairs: tuple[str, str]) -> Rewording:
    """A word for another, in the first place where one of them stands, of the template or else of a rule in
    force."""
    others = dict(pairs)
    result = re.compile("|".join(rf"(?:\b|(?=\W)){re.escape(word)}(?:\b|(?<=\W))" for word in others))

    def reworded(family: Family) -> Family:
        bare = SLOT.sub(lambda match: "#" * len(match[0]), family.template)
        if match := result.search(RULE.sub(lambda match: "#" * len(match[0]), bare)):
            return replace(
                family,
                template=family.template[: match.start()] + others[match[0]] + family.template[match.end() :],
            )
        for place, point in enumerate(family.points):
            text = point.alternative().text
            if f"[Rule {point.name}]" in family.template and (match := result.search(text)):
                summary = text[: match.start()] + others[match[0]] + text[match.end() :]
                items = tuple(
                    replace(item, text=summary) if item.name == point.chosen else item
                    for item in point.alternatives
                )
                return replace(
                    family,
                    points=(
                        *family.points[:place],
                        replace(point, alternatives=items),
                        *family.points[place + 1 :],
                    ),
                )
        raise NotComposable(f"the text has none of the words {', '.join(others)}")

    return reworded


def _swapped(*pairs: tuple[str, str]) -> Rewording:
    return _words(*pairs, *((other, first) for first, other in pairs))


def _slots_exchanged(family: Family) -> Family:
    """Two numbers of the text change places."""
    text = family.template
    for first, other in pairwise(SLOT.finditer(text)):
        if first[1] != other[1] and "\n" not in text[first.start() : other.end()]:
            middle = text[first.end() : other.start()]
            return replace(
                family, template=text[: first.start()] + other[0] + middle + first[0] + text[other.end() :]
            )
    raise NotComposable("no line has two slots")


def _foreign(family: Family) -> Family:
    """A sentence more, of which no program knows."""
    if family.language != "en":
        raise NotComposable("not in English")
    setting, question = split_question(family.template)
    text = f"{setting}\n\n{FOREIGN}"
    return replace(family, template=join_question(text, question) if question else f"{text}\n")


WORDINGS: Mapping[str, Rewording] = MappingProxyType(
    {
        "bound turned round": _swapped(("at least", "at most")),
        "border moved": _words(
            ("at least", "more than"),
            ("at most", "fewer than"),
            ("more than", "at least"),
            ("no more than", "fewer than"),
        ),
        "other end": _swapped(("first", "last")),
        "other direction": _swapped(
            ("left", "right"),
            ("east", "west"),
            ("north", "south"),
            ("above", "below"),
            ("before", "after"),
            ("ahead", "behind"),
            ("upwards", "downwards"),
            ("clockwise", "anticlockwise"),
            ("forward", "backward"),
        ),
        "least for greatest": _swapped(
            ("smallest", "largest"),
            ("shortest", "longest"),
            ("lowest", "highest"),
            ("earliest", "latest"),
            ("fewest", "most"),
            ("smaller", "larger"),
        ),
        "negation dropped": _words(
            (" not", ""), (" never", ""), ("no two", "two"), ("None of", "Some of"), ("nobody", "somebody")
        ),
        "counted from nought": _words(("from 1", "from 0"), ("number 1", "number 0"), ("1, 2, 3", "0, 1, 2")),
        "some for every": _words(
            ("each", "some"),
            ("Each", "Some"),
            ("every", "some"),
            ("Every", "Some"),
            ("all", "some"),
            ("All", "Some"),
        ),
        "not exactly": _words(("exactly", "at least"), ("only", "also"), ("alone", "too")),
        "odd for even": _swapped(("odd", "even"), ("divisible", "not divisible")),
        "or for and": _swapped((" and ", " or ")),
        "another unit": _words(
            ("minutes", "hours"),
            ("minute", "hour"),
            ("seconds", "minutes"),
            ("days", "weeks"),
            ("day", "week"),
            ("kilograms", "pounds"),
            ("kg", "g"),
            ("litres", "gallons"),
            ("turns", "rounds"),
            ("metres", "miles"),
            ("cents", "dollars"),
            ("steps", "turns"),
        ),
        "another fold": _words(
            ("How many different", "How many"),
            ("sum", "product"),
            ("total", "average"),
            ("How many", "Which"),
            ("how many", "which"),
            ("the number of", "the sum of"),
        ),
        "more for fewer": _swapped(
            ("more", "fewer"), ("increasing", "decreasing"), ("greater", "less"), ("longer", "shorter")
        ),
        "numbers exchanged": _slots_exchanged,
        "foreign sentence": _foreign,
    }
)
"""Name -> what it does. Raises NotComposable where a family has no such word."""


def outcome(sound: Family, spoilt: Family, evidence: Mapping[str, Any] | None) -> str:
    """blocked, named or missed. evidence: that of the gate `sentences` on the spoilt family where it was
    accepted, None where it was blocked."""
    if evidence is None:
        return "blocked"
    return "named" if named(stated(sound), stated(spoilt), evidence) else "missed"


def named(before: str, after: str, evidence: Mapping[str, Any]) -> bool:
    """Whether all words that are new are among those that nobody reads; of a phrase that is gone, the words
    beside it."""
    start = _alike(before, after)
    end = len(after) - min(_alike(before[::-1], after[::-1]), len(after) - start)
    places = word_places(after)
    touched = [shown for first, last, shown in places if first < end and last > start]
    if not touched:
        touched = [place[2] for place in places if place[1] <= start][-1:] + [
            place[2] for place in places if place[0] >= start
        ][:1]
    return bool(touched) and all(
        shown in evidence["loose"] or shown.replace("*", "") in evidence["unread"] for shown in touched
    )


def _alike(first: str, other: str) -> int:
    """How many characters two texts have in common from the beginning on."""
    return next(
        (place for place, pair in enumerate(zip(first, other, strict=False)) if pair[0] != pair[1]),
        min(len(first), len(other)),
    )
