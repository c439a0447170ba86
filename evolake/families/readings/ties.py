"""Who goes first among equals: two elements of a list change places, or their names do. Any way to write the
programs is seen."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from typing import Any

from evolake.families.model.wording import ORDER_WORDS, TIE_WORDS
from evolake.families.readings.view import (
    LEAST_PROBES,
    Examiner,
    FamilyView,
    ReadingPlace,
    Wanted,
    at,
    changed,
)

MOST_ELEMENTS = 7


def ties(view: FamilyView) -> Examiner:
    """Examine who goes first among equals: two elements of a list change places, or their names do.

    If another element is answered after the exchange of places, and it is now the earlier one, the programs
    take the first; if the exchange of names changes nothing and the exchange of places does not either, they
    go by the name.
    """
    stated = [
        sentence
        for sentence in view.sentences
        if _on_equals(sentence) and (ORDER_WORDS.search(sentence) or _order_said(sentence))
    ]
    pairs = []
    for path in view.lists() if stated else []:
        for place in view.few:
            items, label = at(view.instances[place].inputs, path), view.labels[place]
            own = [
                number for number, item in enumerate(items) if _name(item) is not None and _names(label, item)
            ]
            for number in own[:2]:
                for other in [
                    index
                    for index in range(len(items))
                    if index != number and _name(items[index]) is not None
                ][:MOST_ELEMENTS]:
                    pairs.append((path, place, number, other))
    inputs = []
    for path, place, number, other in pairs:
        given = view.instances[place].inputs
        items = at(given, path)
        places, names = list(items), copy.deepcopy(list(items))
        places[number], places[other] = places[other], places[number]
        names[number], names[other] = (
            _renamed(items[number], items[other]),
            _renamed(items[other], items[number]),
        )
        inputs += [changed(given, path, places), changed(given, path, names)]
    given = yield Wanted(inputs)
    seen: list[str] = []
    for turn, (path, place, number, other) in enumerate(pairs):
        moved, renamed = given.answers[2 * turn : 2 * turn + 2]
        label = view.labels[place]
        if {moved.status, renamed.status} != {"ok"}:
            continue
        items = at(view.instances[place].inputs, path)
        mine, theirs = _name(items[number]), _name(items[other])
        if isinstance(label, list):
            after = moved.answer if isinstance(moved.answer, list) else []
            known = mine in label and theirs in label and mine in after and theirs in after
            exchanged = known and (label.index(mine) < label.index(theirs)) != (
                after.index(mine) < after.index(theirs)
            )
            before = known and label.index(mine) < label.index(theirs)
            if exchanged:
                seen.append("the first" if before == (number < other) else "the last")
        elif not view.same(moved.answer, label) and moved.answer == theirs:
            seen.append("the first" if number < other else "the last")
        elif (
            view.same(moved.answer, label)
            and view.same(renamed.answer, label)
            and mine != theirs
            and type(mine) is type(theirs)
        ):
            seen.append("the smaller name" if mine < theirs else "the larger name")
    if not stated or not (does := _agreed(seen)):
        return []
    sentence = stated[0]
    says = _order_said(sentence)
    if not says:
        return []
    groups = ({"the first", "the last"}, {"the smaller name", "the larger name"})
    comparable = any({says, does} <= group for group in groups) or (
        says in groups[1] and does in groups[0] and "alphabet" in sentence
    )
    verdict = "fixed" if says == does or not comparable else "contradicted"
    return [ReadingPlace("who goes first among equals", sentence, says, does, verdict)]


def _order_said(sentence: str) -> str:
    """Return what the sentence says of equals, "" if it says two things or none."""
    match = TIE_WORDS.search(sentence) or MORE_TIES.search(sentence)
    rest = sentence[match.end() :] if match else sentence
    if "," in rest and (said := _side_said(rest.split(",", 1)[1])):
        return said
    return _side_said(rest)


def _side_said(rest: str) -> str:
    first = bool(
        re.search(
            r"\b(?:first|earliest|earlier|sooner|before|leftmost|uppermost|topmost|(?:further|higher) up|"
            r"nearer (?:to )?the (?:top|beginning|start|front))\b",
            rest,
            re.IGNORECASE,
        )
    )
    last = bool(
        re.search(
            r"\b(?:last|latest|later|after|rightmost|lowermost|bottommost|most recent(?:ly)?|(?:further|"
            r"lower) down|nearer (?:to )?the (?:end|bottom|back))\b",
            rest,
            re.IGNORECASE,
        )
    )
    if "alphabet" in rest.casefold() and first != last:
        return "the smaller name" if first else "the larger name"
    low = bool(re.search(r"\b(?:smallest|lowest|smaller|lower|least)\b", rest, re.IGNORECASE))
    high = bool(
        re.search(r"\b(?:largest|highest|greatest|larger|higher|greater|biggest)\b", rest, re.IGNORECASE)
    )
    if low + high + first + last != 1:
        return ""
    if first:
        return "the first"
    if last:
        return "the last"
    if low:
        return "the smaller name"
    return "the larger name"


MORE_TIES = re.compile(
    r"\b(?:draws?|dead heat|equally|as (?:many|much|good|high|fast) as|shared? the|level on|level with|"
    r"no clear)\b",
    re.IGNORECASE,
)


def _on_equals(sentence: str) -> bool:
    return bool(TIE_WORDS.search(sentence) or MORE_TIES.search(sentence))


def _agreed(seen: Sequence[str]) -> str:
    """Return what nearly all probes show, "" if they do not agree or are too few."""
    best = max(sorted(set(seen)), key=seen.count, default="")
    return best if seen.count(best) >= LEAST_PROBES and seen.count(best) >= 0.9 * len(seen) else ""


def _name(item: Any) -> Any:
    """Return what an element of a list is called by: its first text, or the element itself if it is one."""
    if isinstance(item, str):
        return item
    if isinstance(item, dict):
        values = item.values()
    elif isinstance(item, list):
        values = item
    else:
        values = ()
    return next((value for value in values if isinstance(value, str)), None)


def _names(label: Any, item: Any) -> bool:
    """Return whether the label is the element's name, or a list in which the name is."""
    name = _name(item)
    return name in label if isinstance(label, list) else isinstance(label, str) and label == name


def _renamed(item: Any, other: Any) -> Any:
    """Return the element under the name of the other one."""
    if isinstance(item, str):
        return _name(other)
    mine, theirs = _name(item), _name(other)
    pairs = item.items() if isinstance(item, dict) else enumerate(item)
    done, result = False, {}
    for key, value in pairs:
        result[key] = theirs if value == mine and not done else value
        done = done or value == mine
    return result if isinstance(item, dict) else list(result.values())
