"""What the order of the data does: for sentences on a state that changes step by step, and for the order in
which an answer names records."""

from __future__ import annotations

import random
import re
from typing import Any

from evolake.families.readings.view import (
    Examiner,
    FamilyView,
    KeyPath,
    ReadingPlace,
    Wanted,
    at,
    changed,
    compared,
    leaves,
)

TIMES = (
    r"(?:day|night|week|month|year|hour|minute|round|turn|step|stop|stroke|lap|game|throw|visit|trip|one|"
    r"letter|word|car|person|guest|number)"
)
STATE = (
    r"\bwould\b[^.;]{0,80}\b(?:not|left|stays?|ignored|skipped|lost|never|instead|remains?|cannot|nothing|"
    r"waits?|stands? still|dropped|omitted|refused|cut|stops?)\b",
    r"\b(?:never|nobody|cannot|can't|can never|must not|nothing)\b[^.;]{0,40}\b(?:below|less than|under|"
    r"fall|sink|drop|above|more than|over)\b[^.;]{0,30}\b(?:and|plays? on|goes on|continues?|at any "
    r"(?:time|moment|point)|in between|on the way|in the meantime)\b",
    rf"\b(?:the |a )?{TIMES} (?:right |directly |just |immediately )?(?:before|after)(?! (?:the |"
    r"an)?other)(?: (?:it|that|this|him|her|a|an|the))?\b",
    rf"\b(?:following|next|previous|preceding|foregoing) {TIMES}\b",
    r"\b(?:from then on|as soon as|from that (?:moment|day|time|point)|no longer|any longer|already|until "
    r"then|so far|up to then|by then)\b",
    r"\b(?:in a row|consecutive|successive|running|on end|without a break|back to back)\b",
    r"\b(?:may|can|does|do|could) (?:not |never )?overtake\b|\bovertakes\b|\bas long as (?:they|it|he|"
    r"she) (?:fits?|can|has|have)\b|\bleft over for the next\b|\bkept for the (?:next|following)\b|"
    r"\bcarried (?:over|on)\b",
    r"\b(?:yesterday|the day before|tomorrow)\b",
    r"\b(?:overflows?|spills?|(?:is|are) lost at (?:that|this|the same) (?:moment|time)|cannot (?:hold|"
    r"take|carry|store)|can't hold|runs? over)\b",
)
"""Ways to speak of a state that depends on what came before."""
LEAST_TRIALS, LEAST_LABELS = 24, 3
NO_ORDER = (
    r"\b(?:order|sequence)\b[^.;]{0,40}\b(?:does not|doesn't|no matter|not matter|irrelevant|any)\b|\bin "
    r"(?:any|no particular) order\b|\bsorted\b|\bsorts\b|\barrange|\bput (?:them )?in order\b|\border of\b"
)


def sequences_of(view: FamilyView) -> list[KeyPath]:
    """Return the paths of lists, and of texts made of few different letters."""
    found = list(view.lists())
    for path, value in leaves(view.instances[0].inputs):
        if isinstance(value, str):
            texts = [at(item.inputs, path) for item in view.instances]
            if (
                all(isinstance(text, str) for text in texts)
                and max(map(len, texts)) >= 6
                and len(set("".join(texts))) <= 10
            ):
                found.append(path)
    return found


def state_in_order(view: FamilyView) -> Examiner:
    """Examine whether a sentence on a state that changes step by step is heeded: then some other order of the
    data gives another answer."""
    stated = [
        sentence
        for sentence in view.sentences
        if any(re.search(form, sentence, re.IGNORECASE) for form in STATE)
    ]
    paths = sequences_of(view) if stated and not re.search(NO_ORDER, view.text, re.IGNORECASE) else []
    trials = []
    for path in paths:
        for place in view.few:
            items = at(view.instances[place].inputs, path)
            for order in _orders(items):
                trials.append((place, changed(view.instances[place].inputs, path, order)))
    given = yield Wanted([inputs for _, inputs in trials])
    if len(trials) < LEAST_TRIALS or len({str(label) for label in view.labels}) < LEAST_LABELS:
        return []
    same = [
        solved.status == "ok" and view.same(solved.answer, view.labels[place])
        for (place, _), solved in zip(trials, given.answers, strict=True)
    ]
    if not all(same):
        return []
    return [
        ReadingPlace(
            "a state that depends on what came before",
            stated[0],
            "the order of the data matters",
            f"none of {len(same)} other orders changes an answer",
            "contradicted",
        )
    ]


def _orders(items: Any) -> list[Any]:
    if len(items) < 4:
        return []
    whole = list(items)
    shuffled = whole[:]
    random.Random(len(whole)).shuffle(shuffled)
    half = len(whole) // 2
    found = [whole[::-1], whole[half:] + whole[:half], shuffled, whole[::2] + whole[1::2]]
    return ["".join(order) if isinstance(items, str) else order for order in found if order != whole]


LARGE_ONES = r"(?:tall|larg|great|high|heav|long|big|old|strong|rich|fast|warm|late|expensive|most|best)\w*"
SMALL_ONES = (
    r"(?:short|small|low|light|young|weak|poor|slow|cold|early|earli|cheap|few|least|worst|little)\w*"
)
IN_FRONT = (
    r"(?:at (?:the )?(?:left|front|top|head|start|beginning)|on the left|in front|comes? first|goes? "
    r"first|leads?|first|leftmost|on top|above)"
)
FALLING_SAID = (
    rf"\b{LARGE_ONES} (?:\w+ ){{0,3}}?{IN_FRONT}\b|\b(shorter|smaller|lower|lighter|younger|fewer|less) "
    r"and \1\b|\b(?:ever|always) (?:smaller|shorter|lower|lighter|fewer|less)\b|\bfrom (?:the "
    rf")?{LARGE_ONES} (?:\w+ )?(?:down )?to (?:the )?{SMALL_ONES}|"
    r"\b(?:descending|decreasing|falling)\b|\bdown to\b"
)
RISING_SAID = (
    rf"\b{SMALL_ONES} (?:\w+ ){{0,3}}?{IN_FRONT}\b|\b(taller|larger|higher|heavier|older|longer|more|"
    r"greater|bigger) and \1\b|\b(?:ever|always) (?:larger|taller|higher|heavier|more|greater|bigger)\b|"
    rf"\bfrom (?:the )?{SMALL_ONES} (?:\w+ )?(?:up )?to (?:the )?{LARGE_ONES}|"
    r"\b(?:ascending|increasing|rising)\b|\bup to the\b"
)


def order_of_names(view: FamilyView) -> Examiner:
    """Examine in which order an answer names records: by their numbers, which rise or fall in every label."""
    yield Wanted()
    falling, rising = view.matching(FALLING_SAID), view.matching(RISING_SAID)
    dated = re.search(r"\b(?:years?|born|birth|founded|built)\b", view.text, re.IGNORECASE)
    older = view.matching(r"\bolder\b[^.;]{0,25}\bbefore\b[^.;]{0,25}\byounger\b")
    younger = view.matching(r"\byounger\b[^.;]{0,25}\bbefore\b[^.;]{0,25}\bolder\b")
    falling, rising = falling + (younger if dated else older), rising + (older if dated else younger)
    if bool(falling) == bool(rising):
        return []
    says, sentence = ("falling", falling[0]) if falling else ("rising", rising[0])
    for path in view.lists():
        ways = set()
        for instance, label in zip(view.instances, view.labels, strict=True):
            numbers = _numbers(at(instance.inputs, path))
            if not numbers or not isinstance(label, list) or set(map(str, label)) - set(numbers):
                ways.add("?")
                break
            values = [numbers[str(name)] for name in label]
            if len(set(values)) > 1:
                if values == sorted(values):
                    way = "rising"
                elif values == sorted(values, reverse=True):
                    way = "falling"
                else:
                    way = "?"
                ways.add(way)
        if len(ways) == 1 and "?" not in ways:
            return [compared("the order in which the answer names them", sentence, says, ways.pop())]
    return []


def _numbers(items: Any) -> dict[str, int]:
    """Return name -> number of records that are a name and a number, none if they are anything else."""
    if not all(
        isinstance(item, list) and len(item) == 2 and isinstance(item[0], str) and type(item[1]) is int
        for item in items
    ):
        return {}
    return {item[0]: item[1] for item in items} if len({item[0] for item in items}) == len(items) else {}


def equal_places(view: FamilyView) -> Examiner:
    """Examine which of equals an answer that is a place means: the data are put behind themselves, so that
    all have an equal one later."""
    tie = (
        r"\b(?:several|more than one|two or more|equally|ties?|tied|equal|the same|as (?:long|large|many|"
        r"high|much|good)|that (?:length|size|value|number)|more such|others)\b"
    )
    earliest = r"\b(?:earliest|first|leftmost|foremost|nearest to the (?:start|beginning|front))\b"
    latest = r"\b(?:latest|last|rightmost|most recent|hindmost|nearest to the end)\b"
    stated = []
    for sentence in view.sentences:
        for part in re.split(r"[;:]|\.\s", sentence):
            match = re.search(tie, part, re.IGNORECASE)
            early, late = re.search(earliest, part, re.IGNORECASE), re.search(latest, part, re.IGNORECASE)
            if match and bool(early) != bool(late):
                stated.append((sentence, "the first" if early else "the last"))
    paths = sequences_of(view) if stated and len({says for _, says in stated}) == 1 else []
    trials = []
    for path in paths[:1]:
        for place in range(len(view.instances)):
            items, label = at(view.instances[place].inputs, path), view.labels[place]
            if type(label) is int and 0 <= label <= len(items) and len(items) > 3:
                trials.append((label, len(items), changed(view.instances[place].inputs, path, items + items)))
    given = yield Wanted([inputs for *_, inputs in trials])
    ways: list[str] = []
    for (label, length, _), solved in zip(trials, given.answers, strict=True):
        if solved.answer == label:
            ways.append("the first")
        else:
            ways.append("the last" if solved.answer == label + length else "?")
    if len(ways) < max(8, len(view.instances) * 3 // 4):
        return []
    best = max(("the first", "the last"), key=ways.count)
    other = "the last" if best == "the first" else "the first"
    if ways.count(best) * 2 < len(ways) or ways.count(other):
        return []
    return [compared("which of equals is meant", stated[0][0], stated[0][1], best)]


def influential_places(view: FamilyView) -> Examiner:
    """Examine where "every k-th" begins by which elements matter: one number after the other is raised."""
    stated = view.matching(
        r"\b(?:every|each) #\d+(?:th|nd|rd|st)?\b|\b(?:every|each) (?:second|third|fourth|fifth|sixth|"
        r"seventh|tenth)\b"
    )
    slots = [
        number
        for number in view.numbers.values()
        if any(re.search(rf"\b(?:every|each) #{number.slot}(?!\d)", item) for item in stated)
    ]
    words = {"second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "tenth": 10}
    fixed = [
        words[match[1].casefold()]
        for item in stated
        if (match := re.search(r"\b(?:every|each) (\w+th|second|third)\b", item, re.IGNORECASE))
        and match[1].casefold() in words
    ]
    paths = [
        path
        for path in view.lists()
        if all(type(item) is int for place in view.few for item in at(view.instances[place].inputs, path))
    ]
    trials = []
    if len(paths) == 1 and len(slots) + len(fixed) == 1:
        for place in view.few:
            inputs = view.instances[place].inputs
            items = at(inputs, paths[0])
            step = at(inputs, slots[0].path) - slots[0].offset if slots else fixed[0]
            if 1 < step <= len(items):
                for index in (0, step - 1):
                    raised = [item + 1000 if number == index else item for number, item in enumerate(items)]
                    trials.append((place, index, changed(inputs, paths[0], raised)))
    given = yield Wanted([inputs for *_, inputs in trials])
    moved = {"the first": [0, 0], "the k-th": [0, 0]}
    for (place, index, _), solved in zip(trials, given.answers, strict=True):
        side = moved["the first" if index == 0 else "the k-th"]
        side[0] += solved.status == "ok" and not view.same(solved.answer, view.labels[place])
        side[1] += 1
    if len(trials) < 8:
        return []
    does = (
        "the first" if moved["the first"][0] * 2 > moved["the first"][1] and not moved["the k-th"][0] else ""
    )
    does = does or (
        "the k-th" if moved["the k-th"][0] * 2 > moved["the k-th"][1] and not moved["the first"][0] else ""
    )
    from_first = view.matching(
        r"\b(?:start|begin)\w* (?:with|at|from|by) (?:the )?(?:very )?first\b|"
        r"\bthe (?:very )?first (?:one )?(?:and|is (?:one|taken|among)|"
        r"included|counts|too|also)\b|\bcounting the first\b"
    )
    says = "the first" if from_first else "the k-th"
    return [compared("where every k-th begins", (from_first or stated)[0], says, does)] if does else []
