"""From neighbour to neighbour, as far as there is one in that direction."""

from itertools import pairwise

END = "front"


def solution(inputs):
    if not isinstance(inputs, dict) or {"queue", "way"} - set(inputs):
        return {"status": "schema_error", "detail": "queue, way"}
    names = inputs["queue"]
    ahead = dict(zip(names[1:], names[:-1], strict=True)) if inputs["way"] == "front to back" else dict(pairwise(names))
    behind = {two: one for one, two in ahead.items()}
    step = ahead if END == "front" else behind
    here = names[0]
    while here in step:
        here = step[here]
    return here
