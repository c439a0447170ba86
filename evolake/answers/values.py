"""Return what a reply gives as its answer as a JSON value, for checkers of answers that are not unique. Standard library only, as `answers`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from evolake.answers.forms import plainer
from evolake.answers.matching import TRUTH
from evolake.answers.mathematics import closed_value, constant
from evolake.answers.quantities import without_marks
from evolake.answers.reading import cleaned, number, structure

LONGEST_CHECKED = 20_000
"""Characters of an answer that a checker is given."""
_SIGNS = re.compile(r"\\(?:times|cdot)(?![A-Za-z])|[×·⋅]|\\div(?![A-Za-z])|÷")


def answer_value(content: str, label: Any, units: Sequence[str] = ()) -> Any:
    """Return the content of a reply's box as a value of the label's kind, whatever form of docs/answers.md it has; None if it has another kind, or
    is longer than LONGEST_CHECKED. units: those that the question asks for.

    A list may leave out its brackets. Texts in it are numbers where all leaves of the label are numbers. In a text, LaTeX's signs of multiplication
    and division are `*` and `/`. A text gets the marks of its label (`x=`, `\\text{ cm}`), and no form is undone that the label has itself.
    """
    if len(content) > LONGEST_CHECKED:
        return None
    if isinstance(label, str):
        for said, meant in without_marks(content, label, units):
            if meant != label and constant(said) and label.count(bare := str(meant).strip()) == 1:
                return label.replace(bare, said.strip())
        forms = [content, *plainer(content, label, units)]
        own = any(form != label for form in plainer(label, label, units))
        return cleaned(_SIGNS.sub(lambda match: "/" if match[0] in ("\\div", "÷") else "*", forms[0 if own else -1]))
    first = _value(content, label)
    if _is_like(first, label):
        return first
    forms = [*plainer(content, label, units), *(said for said, _ in without_marks(content, label, units) if isinstance(label, int | float))]
    return next((value for value in (_value(form, label) for form in forms) if _is_like(value, label)), first)


def _is_like(value: Any, label: Any) -> bool:
    """Whether a value has the label's kind."""
    if isinstance(label, bool) or isinstance(value, bool):
        return isinstance(label, bool) and isinstance(value, bool)
    if isinstance(label, int | float):
        return isinstance(value, int | float)
    if not isinstance(value, type(label)):
        return False
    kinds, numbers = {type(leaf) for leaf in _leaves(label)}, {int, float}
    return all(type(leaf) in kinds or (type(leaf) in numbers and kinds & numbers) for leaf in _leaves(value)) or not kinds


def _value(content: str, label: Any) -> Any:
    shown = cleaned(content)
    if isinstance(label, list | dict):
        value = structure(shown)
        if value is None and isinstance(label, list):
            value = structure(f"[{shown}]")
        if isinstance(value, list | dict) and not value:
            return type(label)()
        kinds = {type(item) for item in _leaves(label)}
        return _typed(value, kinds) if isinstance(value, type(label)) else None
    value = _leaf(shown, {type(label)})
    return (closed_value(content) or value) if isinstance(label, float) and isinstance(value, str) else value


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        parts = value.values()
    elif isinstance(value, list):
        parts = value
    else:
        parts = None
    return [value] if parts is None else [leaf for part in parts for leaf in _leaves(part)]


def _typed(value: Any, kinds: set[type]) -> Any:
    if isinstance(value, dict):
        return {key: _typed(item, kinds) for key, item in value.items()}
    return [_typed(item, kinds) for item in value] if isinstance(value, list) else _leaf(cleaned(value), kinds)


def _leaf(text: str, kinds: set[type]) -> Any:
    """Return the text, or the number or truth value that it spells if the label has such leaves and no
    texts."""
    if str in kinds:
        return text
    if bool in kinds and text.casefold() in TRUTH:
        return TRUTH[text.casefold()]
    result = number(text) if kinds & {int, float} else None
    if result is None:
        return text
    value = result[0]
    if value.denominator == 1 and int in kinds:
        return value.numerator
    # A larger number is no float: the conversion raises OverflowError, and a reply must not end a training.
    return float(value) if float in kinds and abs(value) < 10**300 else text
