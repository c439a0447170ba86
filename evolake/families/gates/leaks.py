"""Does the statement give its answer away?

That the answer occurs in the text means little: a small number occurs by chance, and a person to be found is
on the list. What betrays it is that one and the same place holds the answer in instance after instance: the
n-th number from either end, or what follows the same words. So each such place is tried as a guesser, over
many instances whose answers vary. Long answers (a list, a sentence) are simply looked for.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from evolake.families.model.similarity import answer_key

TOKEN = re.compile(r"-?\d+(?:\.\d+)?(?:/\d+)?|[^\W\d_]+")
LISTING = re.compile(r"[\[({][^\[\](){}]{0,400}[\])}]")
ENDS = 3
LONGEST_GUESS = 4000
LONG = 3
"""Elements from which on a list is too long to be in the text by chance."""


def leaking_place(texts: Sequence[str], answers: Sequence[Any]) -> tuple[str, float]:
    """Return (the place that guesses best, the share of instances in which it holds the answer). ("", 0.0)
    where answers do not vary."""
    keys = [answer_key(answer) for answer in answers]
    if len(set(keys)) < LONG:
        return "", 0.0
    hits: Counter[str] = Counter()
    for text, answer, key in zip(texts, answers, keys, strict=True):
        hits.update({place for place, result in guesses(text) if answer_key(_value(result)) == key})
        if isinstance(answer, list | dict) and len(answer) >= LONG and _spelled(text, answer):
            hits["the whole answer"] += 1
    place, count = max(hits.items(), key=lambda item: (item[1], item[0]), default=("", 0))
    share = count / len(texts)
    return (place, share) if share > _by_chance(keys) else ("", 0.0)


def guesses(text: str) -> Iterator[tuple[str, str]]:
    """Yield (name of a place, what is there)."""
    tokens = [(match.start(), match[0]) for match in TOKEN.finditer(text)]
    numbers = [token for _, token in tokens if token[-1].isdigit()]
    for number in range(min(ENDS, len(numbers))):
        yield f"number {number + 1}", numbers[number]
        yield f"number {number + 1} from the end", numbers[-1 - number]
    followers: dict[str, list[str]] = {}
    for (_, before), (_, token) in pairwise(tokens):
        if not before[-1].isdigit():
            followers.setdefault(before.casefold(), []).append(token)
    for word, result in followers.items():
        yield f"after {word!r}", result[0]
        yield f"last after {word!r}", result[-1]
    lists = LISTING.findall(text)
    if lists:
        yield "the first list", lists[0]
        yield "the last list", lists[-1]


def _value(text: str) -> Any:
    """Return a guess as a value: JSON where it is some, the text itself otherwise. Longer than LONGEST_GUESS
    it is no guess: Python refuses to convert integers of more than 4,300 digits.
    """
    if len(text) > LONGEST_GUESS:
        return text
    try:
        return json.loads(text.replace("(", "[").replace(")", "]").replace("'", '"'))
    except (ValueError, RecursionError):
        return text


def _spelled(text: str, answer: Any) -> bool:
    squeezed = re.sub(r"[\s'\"]", "", text)
    return re.sub(r"[\s'\"]", "", json.dumps(answer, ensure_ascii=False)) in squeezed


def _by_chance(keys: Sequence[str]) -> float:
    """Return what the best constant guess reaches: a place is no leak unless it beats that."""
    return Counter(keys).most_common(1)[0][1] / len(keys)
