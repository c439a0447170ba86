"""The primary of routes."""

COST = ""
__answer__ = __constants__ = None
# --- program ---
"""The place that is nearest next (Dijkstra 1959)."""

import heapq

__constants__


def solution(inputs):
    start, neighbours = inputs["start"], {place: [] for place in inputs["places"]}
    for one, other, amount in inputs["roads"]:
        neighbours[one].append((other, amount))
        neighbours[other].append((one, amount))
    best, waiting = {}, [(0, start)]
    while waiting:
        cost, place = heapq.heappop(waiting)
        if place in best:
            continue
        best[place] = cost
        for other, amount in neighbours[place]:
            more = amount
            if COST == "twice" and place == start:
                more = 2 * amount
            if COST == "stops" and place != start:
                more = amount + 3
            heapq.heappush(waiting, (cost + more, other))
    __answer__
