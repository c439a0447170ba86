"""From the known member on, every note with one known side gives the other side."""

from collections import deque

WANTED = "height"


def solution(inputs):
    if not isinstance(inputs, dict) or {"count", "facts", "known", "asked"} - set(inputs):
        return {"status": "schema_error", "detail": "count, facts, known, asked"}
    notes = {}
    for kind, one, other, number in inputs["facts"]:
        if kind == "sum":
            notes.setdefault(one, []).append((other, -1, number))
            notes.setdefault(other, []).append((one, -1, number))
        else:
            notes.setdefault(one, []).append((other, 1, -number))
            notes.setdefault(other, []).append((one, 1, number))
    first, height = inputs["known"]
    heights, queue = {first: height}, deque([first])
    while queue:
        person = queue.popleft()
        for other, factor, offset in notes.get(person, ()):
            if other not in heights:
                heights[other] = factor * heights[person] + offset
                queue.append(other)
    if not {1, 2, inputs["asked"]} <= set(heights):
        return {"status": "schema_error", "detail": "a height is not determined"}
    return heights[inputs["asked"]] + {"height": 0, "above": -heights[1], "pair": heights[2], "three": heights[1] + heights[2]}[WANTED]
