"""Each painter joins the circles of the pupils one after the other: numbers of painters by depth, below the painter where two ways meet."""

from collections import Counter

PAIRS = "any"
LIMIT = "exactly"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("masters"), list) or not isinstance(inputs.get("steps"), int):
        return {"status": "schema_error", "detail": "masters and steps"}
    masters, steps = inputs["masters"], inputs["steps"]
    below = {person: Counter({0: 1}) for person in range(1, len(masters) + 1)}
    found = 0
    for person in sorted(below, key=lambda one: -height(masters, one)):
        master = masters[person - 1]
        if not master:
            continue
        for depth, painters in below[person].items():
            for other, others in below[master].items():
                distance = depth + 1 + other
                if distance != steps and (LIMIT == "exactly" or distance > steps):
                    continue
                if (PAIRS == "apart" and other == 0) or (PAIRS == "level" and abs(depth + 1 - other) > 1):
                    continue
                found += painters * others
        below[master].update({depth + 1: painters for depth, painters in below[person].items()})
    return found


def height(masters, person):
    """How many forebears there are."""
    count = 0
    while masters[person - 1]:
        person, count = masters[person - 1], count + 1
    return count
