"""Sweep over the starts and ends in order of time."""

from collections import Counter

ENDS = "open"
SAFE = "least"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("shifts"), list) or not isinstance(inputs.get("least"), int):
        return {"status": "schema_error", "detail": "shifts and least"}
    changes = Counter()
    for start, end in inputs["shifts"]:
        changes[start] += 1
        changes[end + (ENDS == "closed")] -= 1
    safe, present, before = 0, 0, None
    for minute in sorted(changes):
        if before is not None and (present >= inputs["least"] if SAFE == "least" else present == inputs["least"]):
            safe += minute - before
        present += changes[minute]
        before = minute
    return safe
