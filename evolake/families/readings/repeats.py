"""Whether what occurs twice counts twice: an element is added again, or taken away."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from evolake.families.readings.view import (
    LEAST_PROBES,
    Examiner,
    FamilyView,
    Given,
    KeyPath,
    ReadingPlace,
    Wanted,
    at,
    changed,
)


def repeats(view: FamilyView) -> Examiner:
    """Examine whether what occurs twice counts twice."""
    distinct = [
        sentence
        for sentence in view.sentences
        if re.search(r"\b(?:different|distinct|unique)\b", sentence, re.IGNORECASE)
    ]
    once = view.matching(
        r"\b(?:not|never|nobody|no one|none|nothing|no \w+)\b[^.]{0,40}\b(?:a second time|twice|more than "
        r"once)\b|\b(?:repeated|repetitions|repeats|that comes? again|doubles|"
        r"duplicates)\b[^.]{0,30}\b(?:ignored|left out|not counted?|no second|away|aside|removed|taken "
        r"out|dropped)\b|\bcounts? (?:only )?once\b|\bcounted (?:only )?once\b|\bonly once\b|\bwithout "
        r"repeats?\b|\bignor\w+ repeats\b|\bcounts? (?:for|as) (?:only |just )?one\b(?! pair)|\b(?:taken|"
        r"listed|written|entered|noted|put) (?:down )?(?:only |just )?once\b|\b(?:several|many|more than "
        r"one|two or more)\b[^.;]{0,40}\b(?:for one|as one|(?<!at )once)\b(?! pair)|\b(?:once only|one "
        r"time only)\b"
    )
    often = view.matching(
        r"\bas often as\b|\bevery occurrence\b|\beach occurrence\b|\bwith repeats\b|"
        r"\brepeats (?:are )?count|\beach time (?:it|he|she)\b|"
        r"\bcounts? (?:again|each time|every time|twice|as many times)"
    )
    once = [
        item
        for item in once
        if not re.search(r"\b(?:in|within) (?:it|them|each|a word|the word)\b", item, re.IGNORECASE)
    ]
    paths = []
    for path in view.lists() if distinct or once or often else []:
        items = [at(view.instances[place].inputs, path) for place in view.few]
        if all(
            isinstance(item, str | int) and not isinstance(item, bool) for values in items for item in values
        ):
            paths.append(path)
    trials = []
    for path in paths:
        for place in view.few:
            items = at(view.instances[place].inputs, path)
            trials += [
                (path, place, number, [*items, items[number]])
                for number in dict.fromkeys((0, len(items) // 2, len(items) - 1))
            ]
            trials += [
                (path, place, -1, items[:number] + items[number + 1 :])
                for number in dict.fromkeys((0, len(items) // 2))
                if len(items) > 2
            ]
    given = yield Wanted(
        [changed(view.instances[place].inputs, path, items) for path, place, _, items in trials]
    )
    result = []
    for path in paths:
        added = _changes(view, trials, given, path, lambda number: number >= 0)
        removed = _changes(view, trials, given, path, lambda number: number < 0)
        noun = _noun_of(view, path)
        for sentence in dict.fromkeys([*distinct, *once]):
            said = sentence in once or bool(
                noun
                and re.search(
                    rf"(?<!\bare )(?<!\bas )\b(?:different|distinct|"
                    rf"unique) {noun}",
                    sentence,
                    re.IGNORECASE,
                )
            )
            if said and added[1] >= 4:
                counted = added[0] >= max(LEAST_PROBES, added[1] // 10)
                verdict = "contradicted" if counted else "fixed"
                result.append(
                    ReadingPlace(
                        "whether repeats count",
                        sentence,
                        "once",
                        "each time" if counted else "once",
                        verdict,
                        *added,
                    )
                )
        for sentence in often:
            if added[1] >= 4 and removed[0] >= LEAST_PROBES:
                verdict = "contradicted" if not added[0] else "fixed"
                result.append(
                    ReadingPlace(
                        "whether repeats count",
                        sentence,
                        "each time",
                        "each time" if added[0] else "once",
                        verdict,
                        *removed,
                    )
                )
    return result


Trial = tuple[KeyPath, int, int, Any]


def _changes(
    view: FamilyView, trials: Sequence[Trial], given: Given, path: KeyPath, wanted: Callable[[int], bool]
) -> tuple[int, int]:
    """Return how many answers of these trials are no longer the label, and of how many."""
    changes = [
        not view.same(solved.answer, view.labels[place])
        for (where, place, number, _), solved in zip(trials, given.answers, strict=True)
        if where == path and wanted(number) and solved.status == "ok"
    ]
    return sum(changes), len(changes)


def _noun_of(view: FamilyView, path: KeyPath) -> str:
    """Return an expression of the plural nouns in the sentence that states the list, "" if no slot states
    it."""
    items = at(view.instances[0].inputs, path)
    for number, text in enumerate(view.instances[0].slot_texts, start=1):
        if items and all(str(item) in text for item in items):
            for sentence in view.sentences:
                if re.search(rf"#{number}(?!\d)", sentence):
                    nouns = set(re.findall(r"[a-z]{2,}s\b", sentence.casefold())) - {
                        "is",
                        "was",
                        "says",
                        "has",
                        "as",
                        "its",
                        "this",
                    }
                    return f"(?:[a-z]+ )?(?:{'|'.join(sorted(nouns))})" if nouns else ""
    return ""
