"""Import this in a jail that is to run math-verify, and nowhere else: what it imports when it first parses is then there for every reply.

The package is no dependency of evolake, not even an optional one: who wants it installs it.
"""

from __future__ import annotations

import importlib
import logging
from typing import Any

_library: Any = importlib.import_module("math_verify")
for _name in ("math_verify", "math_verify.parser", "math_verify.grader"):
    logging.getLogger(_name).setLevel(logging.ERROR)  # it warns of each call without a timeout of its own
_texts = ("\\boxed{\\frac{x^2}{3}}", "so $\\left(1, \\sqrt{3}\\right)$ or 1/3")
_library.verify(*(_library.parse(text, parsing_timeout=None) for text in _texts), timeout_seconds=None)
