"""Compare answers exactly, and by math-verify what the exact reader declines. Import this in a jail only:
math-verify reads what a model wrote.

math-verify is an extra (`pip install evolake[math]`). What it imports when it first parses is imported here,
so that every reply finds it ready.
"""

from __future__ import annotations

import importlib
import logging
from typing import Any

from evolake.answers.forms import asked_units
from evolake.answers.matching import answers
from evolake.answers.mathematics import mathematics
from evolake.answers.quantities import bare_value
from evolake.answers.reading import cleaned, extract_boxed, number, structure

_library: Any = importlib.import_module("math_verify")
for _name in ("math_verify", "math_verify.parser", "math_verify.grader"):
    logging.getLogger(_name).setLevel(logging.ERROR)  # it warns of each call without a timeout of its own
_texts = ("\\boxed{\\frac{x^2}{3}}", "so $\\left(1, \\sqrt{3}\\right)$ or 1/3")
_library.verify(*(_library.parse(text, parsing_timeout=None) for text in _texts), timeout_seconds=None)


def compare(reply: str, label: Any, question: str) -> bool:
    """Return whether the content of the reply's last box is the label.

    math-verify decides only about labels that `declined` accepts, so its known false positives (`41+1` for
    42, other units, text without a box) do not count.
    """
    content = extract_boxed(reply)
    if content is None:
        return False
    if answers(content, label, units=asked_units(question)):
        return True
    if not declined(label):
        return False
    gold, given = (_library.parse(f"\\boxed{{{text}}}", parsing_timeout=None) for text in (label, content))
    return bool(gold) and bool(_library.verify(gold, given, timeout_seconds=None))


def declined(label: Any) -> bool:
    """Return whether a label is mathematics in LaTeX that the exact reader does not read, such as a matrix,
    an inequality or a logarithm."""
    if not isinstance(label, str) or not any(sign in label for sign in ("\\", "^", "<", ">", "=")):
        return False
    shown = cleaned(bare_value(label))
    return number(shown) is None and structure(shown) is None and mathematics(label) is None
