"""What one letter of some step has for descendants at the end: recursion over the steps that are left, with memory."""

from functools import cache

PACE = "all"
WANTED = "B"


def solution(inputs):
    if not isinstance(inputs, dict) or "rules" not in inputs or "start" not in inputs or "steps" not in inputs:
        return {"status": "schema_error", "detail": "rules, start, steps"}
    images, last = dict(inputs["rules"]), inputs["steps"]

    @cache
    def descendants(letter, done):
        if done == last:
            return int(WANTED in ("all", letter))
        sleeping = PACE == "rest" and letter == "A" and done % 2 == 1
        children = letter if sleeping else images[letter]
        return sum(descendants(child, done + 1) for child in children)

    return sum(descendants(letter, 0) for letter in inputs["start"])
