"""Whether two answers are one: the only comparison of answers in this line, for votes, blind reviews, probes and rewards.

Numbers are exact (rationals too); where a decimal with a fractional part is involved, 1e-9 relative. Booleans equal booleans only. Strings are
trimmed, case kept unless the family says otherwise. Lists and tuples compare by element, mappings by key. A text is read as what the other
side is. "N/A", None and NaN equal nothing, themselves included. Text is never evaluated. Standard library only, as `answers`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from evolake.answers.forms import MAX_FORM, plainer
from evolake.answers.mathematics import closed_value, mathematics, same
from evolake.answers.quantities import without_marks
from evolake.answers.reading import MAX_DEPTH, cleaned, extract_boxed, number, structure

TOLERANCE = Fraction(1, 10**9)
NOT_A_NUMBER = frozenset(("nan", "NaN", "NAN"))
"""Spellings that programs write; `Nan` is a name."""
TRUTH = {"true": True, "yes": True, "false": False, "no": False, "是": True, "否": False, "真": True, "假": False, "对": True, "错": False}


def equivalent(left: Any, right: Any, *, case_sensitive: bool = True) -> bool:
    """Whether two answers, each a JSON value or a text, are the same. A text may hold \\boxed{...}, whose content counts then. Symmetric."""
    left, right = _unboxed(left), _unboxed(right)
    if _equal(left, right, case_sensitive, 0):
        return True
    return _bare_list(left, right, case_sensitive) or _bare_list(right, left, case_sensitive)


def matches(reply: str, label: Any, *, case_sensitive: bool = True, units: Sequence[str] = ()) -> bool:
    """Whether a reply gives the label inside \\boxed{...}: a reply without one is wrong. units: those that the question asks for (`asked_units`)."""
    content = extract_boxed(reply)
    return content is not None and answers(content, label, case_sensitive=case_sensitive, units=units)


def answers(content: str, label: Any, *, case_sensitive: bool = True, units: Sequence[str] = ()) -> bool:
    """Whether what a reply gives as its answer is the label, as it stands or with one of the forms of `evolake.answers.forms` undone."""
    if equivalent(content, label, case_sensitive=case_sensitive):
        return True
    if any(equivalent(form, label, case_sensitive=case_sensitive) for form in plainer(content, label, units)):
        return True
    if isinstance(label, bool) or not isinstance(label, str | int | float) or len(content) > MAX_FORM:
        return False
    return any(equivalent(said, meant, case_sensitive=case_sensitive) for said, meant in without_marks(content, label, units))


def _unboxed(value: Any) -> Any:
    if isinstance(value, str) and "\\boxed" in value:
        content = extract_boxed(value)
        return value if content is None else content
    return value


def _equal(left: Any, right: Any, case: bool, depth: int) -> bool:
    if depth > MAX_DEPTH or left is None or right is None:
        return False
    if isinstance(left, str) and isinstance(right, str):
        return _texts(left, right, case, depth)
    if isinstance(right, str):
        left, right = right, left
    if isinstance(left, str):
        return _text_and_value(left, right, case, depth)
    if isinstance(left, bool) or isinstance(right, bool):
        return isinstance(left, bool) and isinstance(right, bool) and left == right
    if isinstance(left, int | float | Fraction) and isinstance(right, int | float | Fraction):
        return _numbers(_exactness(left), _exactness(right))
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(_equal(first, other, case, depth + 1) for first, other in zip(left, right, strict=True))
    if isinstance(left, dict) and isinstance(right, dict):
        ours, theirs = _keyed(left, case), _keyed(right, case)
        if ours is None or theirs is None or ours.keys() != theirs.keys():
            return False
        return all(_equal(value, theirs[key], case, depth + 1) for key, value in ours.items())
    return isinstance(left, list | tuple | dict) and isinstance(right, list | tuple | dict) and not left and not right


def _texts(left: str, right: str, case: bool, depth: int) -> bool:
    first, second = cleaned(left), cleaned(right)
    if _not_available(first) or _not_available(second):
        return False
    if left.strip() == right.strip() or first == second or (not case and first.casefold() == second.casefold()):
        return True
    ours, theirs = number(first), number(second)
    if ours is not None and theirs is not None:
        return _numbers(ours, theirs)
    tree = mathematics(left, case_sensitive=case)
    other_tree = None if tree is None else mathematics(right, case_sensitive=case)
    if other_tree is not None and same(tree, other_tree):
        return True
    if _closed(left, theirs) or _closed(right, ours):
        return True
    item, other = structure(first), structure(second)
    if item is None and isinstance(other, list) and second[0] == "(":
        item, first = structure(f"({first})"), f"({first}"  # "2, 5" for (2, 5)
    elif other is None and isinstance(item, list) and first[0] == "(":
        other, second = structure(f"({second})"), f"({second}"
    if (item is None and other is None) or _other_brackets(first, item, second, other):
        return False
    if isinstance(item, list) and isinstance(other, list) and first[0] == second[0] == "{":
        return _sets(item, other, case, depth + 1)
    return _equal(first if item is None else item, second if other is None else other, case, depth + 1)


def _sets(left: list[Any], right: list[Any], case: bool, depth: int) -> bool:
    """Whether two sets are one: in any order, each element as often as on the other side."""
    rest = list(right)
    for item in left:
        found = next((place for place, other in enumerate(rest) if _equal(item, other, case, depth)), None)
        if found is None:
            return False
        del rest[found]
    return not rest


def _text_and_value(text: str, value: Any, case: bool, depth: int) -> bool:
    """Return whether a text matches a value that is no text."""
    shown = cleaned(text)
    if isinstance(value, bool):
        return TRUTH.get(shown.casefold()) is value
    if isinstance(value, int | float | Fraction):
        result = number(shown)
        if result is not None:
            return _numbers(result, _exactness(value))
        if isinstance(value, float) and _closed(text, _exactness(value)):
            return True
    result = structure(shown)
    return result is not None and _equal(result, value, case, depth + 1)


def _bare_list(text: Any, value: Any, case: bool) -> bool:
    """`1, 2` for [1, 2]: a whole answer may leave the brackets out."""
    if not isinstance(text, str) or not isinstance(value, list | tuple) or not value:
        return False
    shown = cleaned(text)
    result = structure(f"[{shown}]") if structure(shown) is None else None
    return result is not None and _equal(result, value, case, 1)


def _closed(text: str, value: tuple[Fraction, bool] | None) -> bool:
    """Whether a text is a root or a multiple of pi, and the other side the decimal of it."""
    if value is None or value[1]:
        return False
    result = closed_value(text)
    return result is not None and _numbers((Fraction(result), False), value)


def _other_brackets(first: str, item: Any, second: str, other: Any) -> bool:
    """Whether two texts say different things by their brackets: [0, 1] holds its ends and (0, 1) does not, and {0, 1} has no order."""
    if not isinstance(item, list) or not isinstance(other, list):
        return False
    kinds = {first[0], second[0]}
    return kinds == {"(", "{"} or (kinds == {"(", "["} and len(item) == len(other) == 2)


def _exactness(value: Any) -> tuple[Fraction, bool] | None:
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        value = Fraction(repr(value))  # the decimal that people see, not its binary neighbour
        return value, value.denominator == 1
    return Fraction(value), True


def _numbers(left: tuple[Fraction, bool] | None, right: tuple[Fraction, bool] | None) -> bool:
    if left is None or right is None:
        return False
    (item, exact), (other, also) = left, right
    if item == other:
        return True
    return not (exact and also) and abs(item - other) <= TOLERANCE * max(abs(item), abs(other))


def _keyed(mapping: dict[Any, Any], case: bool) -> dict[str | Fraction, Any] | None:
    """Return the mapping by one form of its keys, a number for each that is one; None where two keys fall
    together."""
    result: dict[str | Fraction, Any] = {}
    for key, value in mapping.items():
        text = cleaned(str(key))
        value_of = number(text)
        if value_of:
            name = value_of[0]
        elif case:
            name = text
        else:
            name = text.casefold()
        result[name] = value
    return result if len(result) == len(mapping) else None


def _not_available(text: str) -> bool:
    return text.casefold() == "n/a" or text.lstrip("+-") in NOT_A_NUMBER
