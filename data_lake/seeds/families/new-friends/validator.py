"""Who is near whom on the first day decides all: a breadth-first search from everybody, up to the distance that the evenings bridge."""

MEET = "any"
ASKED = "pairs"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("friends"), list) or {"count", "evenings"} - set(inputs):
        return {"status": "schema_error", "detail": "count, friends, evenings"}
    count, evenings = inputs["count"], inputs["evenings"]
    neighbours = {person: set() for person in range(1, count + 1)}
    for one, other in inputs["friends"]:
        neighbours[one].add(other)
        neighbours[other].add(one)
    bridged = 2**evenings if MEET == "any" else evenings + 1
    sizes = []
    for person in neighbours:
        seen, edge = {person}, {person}
        for _ in range(min(bridged, count)):
            edge = {other for near in edge for other in neighbours[near]} - seen
            if not edge:
                break
            seen |= edge
        sizes.append(len(seen) - 1)
    if ASKED == "popular":
        return max(sizes)
    pairs = sum(sizes) // 2
    return pairs if ASKED == "pairs" else count * (count - 1) // 2 - pairs
