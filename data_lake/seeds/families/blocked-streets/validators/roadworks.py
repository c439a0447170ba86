"""Only the roadworks count: routes between two crossings without any in between come from closed formulas and the first roadworks met."""

from math import comb

STEPS = "straight"
LIMIT = "most"


def free(dx, dy):
    """Routes over dx blocks to the east and dy to the north, whatever they meet."""
    if dx < 0 or dy < 0:
        return 0
    if STEPS == "straight":
        return comb(dx + dy, dx)
    return sum(comb(dx, across) * comb(dx + dy - across, dx) for across in range(min(dx, dy) + 1))


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("closed"), list) or {"east", "north", "allowed"} - set(inputs):
        return {"status": "schema_error", "detail": "east, north, closed, allowed"}
    target = (inputs["east"], inputs["north"])
    inside = [(x, y) for x, y in inputs["closed"] if x <= target[0] and y <= target[1]]
    places = [(0, 0), *sorted(inside, key=lambda place: (place[0] + place[1], place)), target]
    clear = {}
    for start in range(len(places)):
        for end in range(start + 1, len(places)):
            routes = free(places[end][0] - places[start][0], places[end][1] - places[start][1])
            for first in range(start + 1, end):
                routes -= clear[start, first] * free(places[end][0] - places[first][0], places[end][1] - places[first][1])
            clear[start, end] = routes
    last = len(places) - 1
    reach = [1] + [0] * last
    total = 0
    for met in range(inputs["allowed"] + 1):
        arriving = sum(reach[place] * clear[place, last] for place in range(last))
        if LIMIT == "most" or met == inputs["allowed"]:
            total += arriving
        reach = [sum(reach[before] * clear[before, place] for before in range(place)) if place < last else 0 for place in range(last + 1)]
    return total
