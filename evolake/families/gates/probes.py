"""Negative probes: answers that are nearly right must be judged wrong, by the same function that gives the
reward."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

from evolake.answers.matching import TOLERANCE, matches
from evolake.answers.reading import cleaned, number

MAX_HALF = 2**28
"""Below this a half is more than the tolerance of 1e-9."""


def wrong_answers(label: Any) -> list[Any]:
    """Return perturbations of a label: neighbours, sign, order, length, type. None of them is the label."""
    return [answer for answer in [*_perturbed(label), "N/A", ""] if not _same(answer, label)]


def accepted_wrongly(label: Any, *, case_sensitive: bool = True) -> list[str]:
    """Return those perturbations that a reply could give and be rewarded for."""
    replies = [
        "\\boxed{" + (answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)) + "}"
        for answer in wrong_answers(label)
    ]
    return [reply for reply in replies if matches(reply, label, case_sensitive=case_sensitive)]


def _perturbed(label: Any) -> list[Any]:
    if isinstance(label, bool):
        return [not label, int(label), [label]]
    if isinstance(label, int):
        near = [label + 0.5] if abs(label) < MAX_HALF else []
        return [label + 1, label - 1, -label, 10 * label, *near, str(label) + "x", [label, label]]
    if isinstance(label, float):
        return [label * 1.001 + 1e-6, -label, 1.01 * label + 1, [label, label]]
    if isinstance(label, str):
        if number(cleaned(label)) is not None:  # cutting digits may leave the same number
            return ["9" + label, label + "x", [label, label]]
        return [label + "x", label[1:], label[::-1], label + label, [label, label]]
    if isinstance(label, list):
        inner = [[wrong, *label[1:]] for wrong in _perturbed(label[0])[:3]] if label else []
        return [label[:-1], [*label, 0], label[::-1], [label, label], *inner]
    if isinstance(label, dict) and label:
        key = sorted(label)[0]
        rest = {other: value for other, value in label.items() if other != key}
        return [
            rest,
            {**label, "extra key": 0},
            *({**label, key: wrong} for wrong in _perturbed(label[key])[:3]),
        ]
    return [0, [0]]


def _same(answer: Any, label: Any) -> bool:
    """Equal as values: 1, 1.0 and the text "1" are one thing to who judges, and so are an empty list and an
    empty mapping; True is another than 1."""
    if isinstance(answer, list | dict) and isinstance(label, list | dict) and not answer and not label:
        return True
    if isinstance(answer, list) and isinstance(label, list):
        return len(answer) == len(label) and all(
            _same(first, other) for first, other in zip(answer, label, strict=True)
        )
    if isinstance(answer, dict) and isinstance(label, dict):
        return answer.keys() == label.keys() and all(
            _same(value, label[key]) for key, value in answer.items()
        )
    item, other = _number(answer), _number(label)
    if item is not None and other is not None:
        return _near(item, other)
    return item is other is None and json.dumps(answer, sort_keys=True) == json.dumps(label, sort_keys=True)


def _number(value: Any) -> Fraction | float | None:
    """Return the value of a number, or of a text that reads as one."""
    if isinstance(value, str):
        result = number(cleaned(value))
        return None if result is None else result[0]
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _near(first: Fraction | float, other: Fraction | float) -> bool:
    """Equal, or, where one of them is no integer, within the tolerance: two elements of a list that are so
    near may change places."""
    if any(isinstance(value, float) and not math.isfinite(value) for value in (first, other)):
        return first == other
    first, other = (
        Fraction(repr(first) if isinstance(first, float) else first),
        Fraction(repr(other) if isinstance(other, float) else other),
    )
    integers = first.denominator == other.denominator == 1
    return first == other or (not integers and abs(first - other) <= TOLERANCE * max(abs(first), abs(other)))
