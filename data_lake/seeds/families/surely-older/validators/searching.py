"""Two searches through the notes, over pairs of a member and whether a strict note has been used on the way."""

STRICT = 1
WEAK = 1
SUBJECT = "first"


def downwards(steps, start):
    """(member, strict): who is surely not older, and whether surely younger."""
    found = {(start, False)}
    waiting = [(start, False)]
    while waiting:
        member, strict = waiting.pop()
        for lower, hard in steps.get(member, ()):
            state = (lower, strict or hard)
            if state not in found:
                found.add(state)
                waiting.append(state)
    return found


def solution(inputs):
    if not isinstance(inputs, dict) or {"count", "notes", "one", "other"} - set(inputs):
        return {"status": "schema_error", "detail": "count, notes, one, other"}
    steps = {}
    for left, sign, right in inputs["notes"]:
        way = {">": STRICT, ">=": WEAK, "=": 0}[sign]
        if way >= 0:
            steps.setdefault(left, []).append((right, sign == ">"))
        if way <= 0:
            steps.setdefault(right, []).append((left, sign == ">"))
    below_one, below_other = downwards(steps, inputs["one"]), downwards(steps, inputs["other"])
    if (inputs["other"], True) in below_one:
        return {"first": "older", "second": "younger"}[SUBJECT]
    if (inputs["one"], True) in below_other:
        return {"first": "younger", "second": "older"}[SUBJECT]
    return "same" if (inputs["other"], False) in below_one and (inputs["one"], False) in below_other else "unknown"
