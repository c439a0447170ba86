"""A search in widening rings from every painter."""

PAIRS = "any"
LIMIT = "exactly"


def solution(inputs):
    try:
        count, steps = len(inputs["masters"]), inputs["steps"]
        neighbours = {person: set() for person in range(1, count + 1)}
        for pupil, master in enumerate(inputs["masters"], start=1):
            if master:
                neighbours[pupil].add(master)
                neighbours[master].add(pupil)
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "masters and steps"}
    from_founder = {1: 0}
    queue = [1]
    for person in queue:
        for other in neighbours[person]:
            if other not in from_founder:
                from_founder[other] = from_founder[person] + 1
                queue.append(other)
    pairs = 0
    for start in neighbours:
        ring, seen, distance = {start}, {start}, 0
        while ring and distance < steps:
            ring = {other for person in ring for other in neighbours[person]} - seen
            seen |= ring
            distance += 1
            if LIMIT == "exactly" and distance < steps:
                continue
            for other in ring:
                gap = abs(from_founder[start] - from_founder[other])
                if PAIRS == "any" or (PAIRS == "level" and gap < 2) or (PAIRS == "apart" and gap != distance):
                    pairs += 1
    return pairs // 2
