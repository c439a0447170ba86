"""Split the road at its highest tower: nobody sees past it, so what is left are pairs with it and pairs on either side."""

BETWEEN = "lower"
ASKED = "pairs"


def from_top(heights, top, places):
    """The places from which the top is seen, going away from it."""
    highest = 0
    for place in places:
        if heights[place] > highest or (heights[place] == highest and BETWEEN == "level"):
            yield place
        highest = max(highest, heights[place])


def solution(inputs):
    if not isinstance(inputs, dict) or {"heights", "apart"} - set(inputs):
        return {"status": "schema_error", "detail": "heights and apart"}
    heights = inputs["heights"]
    total, roads = 0, [(0, len(heights))]
    while roads:
        west, east = roads.pop()
        if east - west < 2:
            continue
        top = max(range(west, east), key=lambda place: heights[place])
        roads += [(west, top), (top + 1, east)]
        seen = [*from_top(heights, top, range(top - 1, west - 1, -1)), *from_top(heights, top, range(top + 1, east))]
        for place in seen:
            distance = abs(place - top)
            if distance >= inputs["apart"]:
                total += {"pairs": 1, "places": distance, "heights": heights[top] - heights[place]}[ASKED]
    return total
