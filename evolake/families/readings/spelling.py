"""Whether capital letters count as others, whether occurrences may overlap (texts of the data are written
another way), and the base of numerals that a word names."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any

from evolake.families.readings.view import (
    LEAST_PROBES,
    Examiner,
    FamilyView,
    Wanted,
    at,
    changed,
    compared,
    leaves,
    texts_in,
)

NUMERALS = {"binary": 2, "octal": 8, "hexadecimal": 16, "ternary": 3}


def numerals(view: FamilyView) -> Examiner:
    """Examine whether a base that a word names is in the programs."""
    yield Wanted()
    said = {
        value
        for word, value in NUMERALS.items()
        if re.search(rf"\b{word}\b(?! (?:tree|search))", view.text, re.IGNORECASE)
    }
    if len(said) != 1:
        return []
    base = said.pop()
    signs = {2: ("bin", "bit_count", "b}"), 8: ("oct", "o}"), 16: ("hex", "x}", "X}"), 3: ()}[base]
    for name, tree in view.trees.items():
        text = ast.unparse(tree)
        numbers = {item.value for item in ast.walk(tree) if isinstance(item, ast.Constant)}
        lengths = {
            len(item.value)
            for item in ast.walk(tree)
            if isinstance(item, ast.Constant) and isinstance(item.value, str)
        }
        bits = base == 2 and any(
            isinstance(item, ast.BitAnd | ast.RShift | ast.LShift) for item in ast.walk(tree)
        )
        if not (
            base in numbers
            or base in lengths
            or bits
            or any(sign in text for sign in signs)
            or str(base) in map(str, numbers)
        ):
            sentence = next(iter(view.matching(r"\b(?:binary|octal|hexadecimal|ternary)\b")))
            return [
                compared("the base of numerals", sentence, str(base), f"another base in the program {name}")
            ]
    return []


def letter_case(view: FamilyView) -> Examiner:
    """Examine whether capital letters count as others."""
    alike = view.matching(
        r"\bcase (?:does not|doesn't) matter|\bignor\w+ (?:upper|case|whether)|\bcapital\w* (?:and small "
        r")?(?:letters )?(?:count as|are) (?:the same|equal|alike)|\bcase-insensitive|\bupper and lower "
        r"case (?:letters )?(?:are|count as) (?:the same|equal|alike|one)|\bregardless of (?:upper|case)|"
        r"\bno matter whether .{0,30}(?:capital|upper)|\bcapitals? or not\b|\b(?:no|without) difference "
        r"between (?:capital|upper)|\bwhether (?:\w+ ){0,4}(?:large|small|capitals?|upper|lower)\b|"
        r"\b(?:large|capital|upper) or (?:small|lower)\b|\b(?:small|lower) or (?:large|capital|upper)\b|"
        r"\bin either case\b|\b(?:big|large|capital) and (?:small|little)\b[^.]{0,20}\balike\b"
    )
    apart = view.matching(
        r"\bcase matters\b|\bcase-sensitive|\bcapital\w* (?:and small )?(?:letters )?(?:are|"
        r"count as) (?:different|others|other)|"
        r"\bupper and lower case (?:letters )?(?:are|count as) (?:different|two)|"
        r"\bdistinguish\w* (?:capital|upper|case)"
    )
    if not (alike or apart):
        yield Wanted()
        return []
    mixed = [
        path
        for path, _ in leaves(view.instances[0].inputs)
        if {letter.isupper() for item in view.instances for letter in _letters(at(item.inputs, path))}
        == {True, False}
    ]
    inputs = [
        (
            place,
            changed(
                view.instances[place].inputs, path, _mapped(at(view.instances[place].inputs, path), change)
            ),
        )
        for path in mixed
        for place in view.few
        for change in (str.lower, str.swapcase, str.upper)
    ]
    given = yield Wanted([item for _, item in inputs])
    stated = [
        str(view.labels[place]).casefold() != str(solved.answer).casefold()
        for (place, _), solved in zip(inputs, given.answers, strict=True)
        if solved.status == "ok"
    ]
    if len(stated) < 4:
        return []
    does = "as different" if sum(stated) >= LEAST_PROBES else "as the same"
    result = [
        compared("whether capital letters count as others", sentence, "as the same", does)
        for sentence in alike[:1]
    ]
    return result + [
        compared("whether capital letters count as others", sentence, "as different", does)
        for sentence in apart[:1]
    ]


def _letters(value: Any) -> Iterator[str]:
    return (letter for _, text in texts_in(value) for letter in text if letter.isalpha())


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    return {key: _mapped(item, change) for key, item in value.items()} if isinstance(value, dict) else value


def overlaps(view: FamilyView) -> Examiner:
    """Examine whether occurrences may overlap: a text of one letter three times, searched for the letter
    twice."""
    may = view.matching(
        r"\bmay overlap|\boverlapping (?:\w+ )?(?:count|are counted|is counted|included)|\bcan overlap|"
        r"\beven if they overlap|\boverlap\w* allowed|\bincluding overlapping|\b(?:may|can|might) (?:also "
        r")?(?:share|have \w+ in common|use the same|run into|lie (?:over|across))|\bletters? (?:may|can) "
        r"(?:belong|be used|be part)\b[^.;]{0,20}\b(?:two|several|more than one|more often)"
    )
    may_not = view.matching(
        r"\bnon-?overlapping|\b(?:must|may|do|can|are) not (?:to )?overlap|\bwithout overlap|"
        r"\bcannot overlap|\bno two (?:\w+ )?overlap|"
        r"\bnot (?:may )?share (?:a|any)|\b(?:letter|place|character|"
        r"sign)\b[^.;]{0,30}\b(?:only once|at most once|to (?:only )?one)\b|"
        r"\b(?:no|without) \w+ in common\b|\b(?:search|looking|counting|goes on|"
        r"continues?)\b[^.;]{0,20}\b(?:behind|after the end)\b"
    )
    trials = []
    for place in view.few[:3] if may or may_not else []:
        inputs = view.instances[place].inputs
        words = [(path, value) for path, value in leaves(inputs) if isinstance(value, str) and value]
        for path, text in words:
            for other, pattern in words:
                if path != other and len(text) > len(pattern):
                    letter = pattern[0]
                    trials.append(changed(changed(inputs, path, letter * 3), other, letter * 2))
    given = yield Wanted(trials)
    whole = [
        solved.answer for solved in given.answers if solved.status == "ok" and type(solved.answer) is int
    ]
    seen = [{2: "may overlap", 1: "may not"}.get(answer, "") for answer in whole]
    seen = [item for item in seen if item]
    if not seen or len(set(seen)) > 1:
        return []
    said = [(sentence, "may not") for sentence in may_not[:1]] or [
        (sentence, "may overlap") for sentence in may[:1]
    ]
    return [compared("whether occurrences may overlap", sentence, says, seen[0]) for sentence, says in said]
