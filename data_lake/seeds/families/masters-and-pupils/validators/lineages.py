"""The line of forebears of each painter, founder first: two lines part after what they have in common."""

from itertools import combinations

PAIRS = "any"
LIMIT = "exactly"


def solution(inputs):
    if not isinstance(inputs, dict) or {"masters", "steps"} - set(inputs):
        return {"status": "schema_error", "detail": "masters and steps"}
    lines = []
    for person in range(1, len(inputs["masters"]) + 1):
        line = [person]
        while inputs["masters"][line[-1] - 1]:
            line.append(inputs["masters"][line[-1] - 1])
        lines.append(line[::-1])
    counted = 0
    for one, other in combinations(lines, 2):
        shared = 0
        while shared < min(len(one), len(other)) and one[shared] == other[shared]:
            shared += 1
        ups, downs = len(one) - shared, len(other) - shared
        allowed = {"any": True, "apart": ups > 0 and downs > 0, "level": -1 <= ups - downs <= 1}[PAIRS]
        near = ups + downs == inputs["steps"] if LIMIT == "exactly" else ups + downs <= inputs["steps"]
        counted += allowed and near
    return counted
