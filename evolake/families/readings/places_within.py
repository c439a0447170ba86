"""Readings of single places: from the k-th on, tops at the ends of a row, first and last digits, and pairs
that share nothing."""

from __future__ import annotations

import re
from itertools import pairwise

from evolake.families.readings.measured_steps import lists_of_numbers
from evolake.families.readings.view import Examiner, FamilyView, Wanted, at, changed, compared, integers

ORDINALS = {"third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "tenth": 10}


def from_the_kth(view: FamilyView) -> Examiner:
    """Examine with which unit another price begins: all numbers of the data grow past the k-th, and the sum
    grows otherwise from there on."""
    stated = {}
    for sentence in view.sentences:
        for word, number in ORDINALS.items():
            if re.search(
                rf"\b(?:from|beginning with|starting with) the {word}\b[^.;]{{0,30}}\b(?:on|onwards?|"
                r"upwards?)\b",
                sentence,
                re.IGNORECASE,
            ):
                stated[number] = (sentence, "with it")
            elif re.search(rf"\bafter the {word}\b", sentence, re.IGNORECASE):
                stated[number] = (sentence, "with the next one")
    paths = lists_of_numbers(view) if len(stated) == 1 else []
    trials = []
    for path in paths[:1]:
        for place in view.few[:5]:
            inputs, number = view.instances[place].inputs, next(iter(stated))
            trials += [
                changed(inputs, path, [value] * len(at(inputs, path)))
                for value in range(number - 2, number + 3)
            ]
    given = yield Wanted(trials)
    ways = set()
    for start in range(0, len(trials), 5):
        if answers := integers(given.answers[start : start + 5]):
            grows = [later - earlier for earlier, later in pairwise(answers)]
            if grows[0] != grows[3] and grows[1] in (grows[0], grows[3]) and grows[2] in (grows[0], grows[3]):
                if grows[1] != grows[0]:
                    way = "with it"
                elif grows[2] != grows[1]:
                    way = "with the next one"
                else:
                    way = "?"
                ways.add(way)
    if len(ways) != 1 or "?" in ways:
        return []
    sentence, says = next(iter(stated.values()))
    return [compared("with which one another price begins", sentence, says, ways.pop())]


def tops_at_ends(view: FamilyView) -> Examiner:
    """Examine whether the ends of a row can be tops: a row that only rises has its top at the end."""
    counted = view.matching(
        r"\b(?:ends?|first and (?:the )?last)\b[^.;]{0,40}\b(?:only one|a single|one neighbou?r|just one)\b"
    )
    left_out = view.matching(
        r"\b(?:ends?|first and (?:the )?last)\b[^.;]{0,40}\b(?:not (?:looked|counted|"
        r"considered)|never|cannot|left out|ignored)\b"
    )
    compares = re.search(
        r"\b(?:higher|larger|greater|taller|more|heavier|bigger|warmer)\b[^.;]*\b(?:than|both)\b",
        view.text,
        re.IGNORECASE,
    )
    asked = re.search(r"\bhow many\b", view.question, re.IGNORECASE)
    paths = lists_of_numbers(view) if bool(counted) != bool(left_out) and compares and asked else []
    trials = [
        changed(view.instances[place].inputs, path, items)
        for path in paths[:1]
        for place in view.few[:4]
        for items in ([2, 4, 6, 8, 10], [10, 8, 6, 4, 2], [2, 4, 10, 6, 3])
    ]
    given = yield Wanted(trials)
    seen = {tuple(integers(given.answers[start : start + 3])) for start in range(0, len(trials), 3)}
    known: dict[tuple[int, ...], str] = {(1, 1, 1): "an end can be one", (0, 0, 1): "an end is never one"}
    does = known.get(seen.pop(), "") if len(seen) == 1 else ""
    says = "an end can be one" if counted else "an end is never one"
    return [compared("tops at the ends", (counted or left_out)[0], says, does)] if does else []


def first_and_last_digit(view: FamilyView) -> Examiner:
    """Examine which of the first and the last digit is the larger one: all numbers become one whose last
    digit is larger, and one whose first is."""
    larger, smaller = r"(?:larger|greater|higher|bigger|more)", r"(?:smaller|lower|less)"
    last_larger = view.matching(
        rf"\blast (?:digit|figure)\b[^.;]{{0,40}}\b{larger} than (?:the |its )?first\b|"
        rf"\bfirst (?:digit|figure)\b[^.;]{{0,40}}\b{smaller} than (?:the |its )?last\b"
    )
    first_larger = view.matching(
        rf"\bfirst (?:digit|figure)\b[^.;]{{0,40}}\b{larger} than (?:the |its )?last\b|"
        rf"\blast (?:digit|figure)\b[^.;]{{0,40}}\b{smaller} than (?:the |its )?first\b"
    )
    asked = re.search(r"\bhow many\b", view.question, re.IGNORECASE) and not re.search(
        r"\bnot\b", view.text, re.IGNORECASE
    )
    paths = lists_of_numbers(view) if bool(last_larger) != bool(first_larger) and asked else []
    trials = [
        changed(view.instances[place].inputs, path, [value] * 4)
        for path in paths[:1]
        for place in view.few[:4]
        for value in (258, 852)
    ]
    given = yield Wanted(trials)
    seen = {tuple(integers(given.answers[start : start + 2])) for start in range(0, len(trials), 2)}
    known: dict[tuple[int, ...], str] = {(4, 0): "the last is larger", (0, 4): "the first is larger"}
    does = known.get(seen.pop(), "") if len(seen) == 1 else ""
    says = "the last is larger" if last_larger else "the first is larger"
    return (
        [compared("the first and the last digit", (last_larger or first_larger)[0], says, does)]
        if does
        else []
    )


def separate_pairs(view: FamilyView) -> Examiner:
    """Examine whether a thing can be in several pairs: three of one kind are the whole data."""
    one = view.matching(
        r"\b(?:one|a single) pair only\b|\bonly (?:in )?one pair\b|\bnot (?:\w+ )?(?:two|several|"
        r"more than one) pairs?\b|\bat most one pair\b"
    )
    many = view.matching(r"\b(?:several|more than one|many|two) pairs?\b")
    many = [item for item in many if item not in one]
    asked = re.search(r"\bhow many\b[^?]*\bpairs?\b", view.question, re.IGNORECASE)
    trials = []
    for path in view.lists() if bool(one) != bool(many) and asked else []:
        for place in view.few[:4]:
            items = at(view.instances[place].inputs, path)
            if all(isinstance(item, str | int) for item in items):
                trials.append(changed(view.instances[place].inputs, path, [items[0]] * 3))
    given = yield Wanted(trials)
    seen = set(integers(given.answers))
    does = {1: "one pair only", 3: "several pairs"}.get(seen.pop() if len(seen) == 1 else 0, "")
    return (
        [
            compared(
                "in how many pairs a thing can be",
                (one or many)[0],
                "one pair only" if one else "several pairs",
                does,
            )
        ]
        if does
        else []
    )


EXACTLY_THEN = r"\b{word},? or (?:exactly|just|right|precisely) (?:at|on|by|in) (?:that|this|the same)\b"


def with_that_one(view: FamilyView) -> Examiner:
    """Examine whether a border counts that a later sentence calls "exactly that one": all numbers of the data
    become the border."""
    stated = []
    for number, sentence in enumerate(view.sentences):
        if re.search(
            EXACTLY_THEN.format(
                word=r"(?:earlier|before|sooner|less|fewer|lower|smaller|later|after|more|"
                r"higher|larger)"
            ),
            sentence,
            re.IGNORECASE,
        ):
            near = " ".join(view.sentences[max(0, number - 1) : number + 1])
            slots = [slot for slot in view.numbers if re.search(rf"#{slot}(?!\d)", near)]
            stated += [(sentence, slots[0])] if len(slots) == 1 else []
    asked = re.search(r"\bhow many\b", view.question, re.IGNORECASE)
    paths = lists_of_numbers(view) if len(stated) == 1 and asked else []
    trials = [
        changed(inputs, path, [at(inputs, view.numbers[stated[0][1]].path) + step] * len(at(inputs, path)))
        for path in paths[:1]
        for inputs in (view.instances[place].inputs for place in view.few[:6])
        for step in (-3, 0, 3)
    ]
    given = yield Wanted(trials)
    lower = bool(
        stated
        and re.search(
            r"\b(?:earlier|before|sooner|less|fewer|lower|smaller),? or\b", stated[0][0], re.IGNORECASE
        )
    )
    ways = set()
    for start in range(0, len(trials), 3):
        if (answers := integers(given.answers[start : start + 3])) and answers[0] != answers[2]:
            ways.add("it is with them" if answers[1] == answers[0 if lower else 2] else "it is not")
    return (
        [compared("one exactly at the border", stated[0][0], "it is with them", ways.pop())]
        if len(ways) == 1
        else []
    )
