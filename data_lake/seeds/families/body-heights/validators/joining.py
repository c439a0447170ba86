"""Groups of members, each height as plus or minus that of the group's head plus a number; every note joins two groups (union-find with weights)."""

WANTED = "height"


def of_head(groups, person):
    """(head, factor, offset): the person's height is factor * head + offset."""
    factor, offset = 1, 0
    while groups[person][0] != person:
        above, times, plus = groups[person]
        offset += factor * plus
        factor *= times
        person = above
    return person, factor, offset


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("facts"), list) or {"count", "known", "asked"} - set(inputs):
        return {"status": "schema_error", "detail": "count, facts, known, asked"}
    groups = {person: (person, 1, 0) for person in range(1, inputs["count"] + 1)}
    for kind, one, other, number in inputs["facts"]:
        times = -1 if kind == "sum" else 1
        head, factor, offset = of_head(groups, one)
        second, other_factor, other_offset = of_head(groups, other)
        if head != second:
            groups[head] = (second, factor * times * other_factor, factor * (times * other_offset + number - offset))
    known, factor, offset = of_head(groups, inputs["known"][0])
    height = factor * (inputs["known"][1] - offset)
    total = 0
    first, second = {"height": (0, 0), "above": (-1, 0), "pair": (0, 1), "three": (1, 1)}[WANTED]
    for person, times in ((inputs["asked"], 1), (1, first), (2, second)):
        head, factor, offset = of_head(groups, person)
        if head != known:
            return {"status": "schema_error", "detail": "a height is not determined"}
        total += times * (factor * height + offset)
    return total
