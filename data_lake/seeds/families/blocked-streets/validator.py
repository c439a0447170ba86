"""Crossing by crossing: how many routes reach it over how many roadworks."""

STEPS = "straight"
LIMIT = "most"


def solution(inputs):
    if not isinstance(inputs, dict) or {"east", "north", "closed", "allowed"} - set(inputs):
        return {"status": "schema_error", "detail": "east, north, closed, allowed"}
    east, north, allowed = inputs["east"], inputs["north"], inputs["allowed"]
    works = {tuple(crossing) for crossing in inputs["closed"]}
    behind = [(1, 0), (0, 1)] + ([(1, 1)] if STEPS == "diagonal" else [])
    ways = {(0, 0): [1] + [0] * allowed}
    for x in range(east + 1):
        for y in range(north + 1):
            if (x, y) == (0, 0):
                continue
            counts = [0] * (allowed + 1)
            for dx, dy in behind:
                before = ways.get((x - dx, y - dy))
                if before:
                    counts = [one + other for one, other in zip(counts, before, strict=True)]
            ways[x, y] = [0, *counts[:-1]] if (x, y) in works else counts
    return ways[east, north][allowed] if LIMIT == "exactly" else sum(ways[east, north])
