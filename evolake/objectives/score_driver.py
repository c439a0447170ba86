"""Runs inside the jail: scores every design by one objective.

Imports nothing beyond the standard library, so that a warm worker stays small. The reply is the objective's
word about itself, and the host checks its form; it cannot speak about another objective, as each has its own
process.
"""

from __future__ import annotations

import json
import math
import numbers
from typing import Any

LONGEST_REASON = 200


def score_designs(source: str, payload: dict[str, Any]) -> list[list[Any]]:
    """Return scores of all designs: a list of [score or None, status, reason].

    The source is executed again and the results are parsed again for every design: an objective cannot alter
    what it is shown of another design, and keeps nothing in its globals from one to the next.

    Args:
        payload: {"results": [JSON text of a design's result list, ...]}.
    """
    code = compile(source, "<objective>", "exec")
    return [_score(code, text) for text in payload["results"]]


def _score(code: Any, text: str) -> list[Any]:
    namespace: dict[str, Any] = {"__name__": "objective"}
    try:
        exec(code, namespace)
        objective = namespace.get("objective")
        if not callable(objective):
            return [None, "error", "the source defines no function named objective"]
        value = objective(json.loads(text))
    except Exception as error:
        return [None, "error", _reason(error)]
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return [None, "invalid", f"wanted a float, got a {type(value).__name__}"[:LONGEST_REASON]]
    try:
        score = float(value)
    except (OverflowError, ValueError, TypeError) as error:
        return [None, "invalid", _reason(error)]
    if not math.isfinite(score):
        return [None, "invalid", f"the score is {score}"]
    return [score, "ok", ""]


def _reason(error: BaseException) -> str:
    line = "".join(
        character if character.isprintable() else " " for character in str(error)[: 4 * LONGEST_REASON]
    )
    return f"{type(error).__name__}: {line}"[:LONGEST_REASON]
