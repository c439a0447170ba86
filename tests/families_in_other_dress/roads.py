"""An edge list."""

from families_in_other_dress.writing import family

ROADS = family(
    "cheapest-road",
    template=(
        "A pedlar wanders from town to town. Each line names the town where a road begins, the town where "
        "it ends, and its toll:\n\n"
        "[Input Slot 1]\n\n"
        "Every day the pedlar takes, of the roads that begin where he is, the one with the lowest toll; "
        "when several have the same toll, the one that leads to the town with the lowest number. No road "
        "is taken twice; where none is left, he stays.\n\n"
        "<!-- question -->\nHe begins in town 1. What is the sum of the numbers of the towns in which he "
        "ends his first [Input Slot 2] days?"
    ),
    generator="""
import random


def input(difficulty):
    towns = 3 + difficulty
    roads = sorted({(start, end) for start in range(1, towns + 1) for end in random.sample(range(1, towns + 1), 3) if end != start})
    roads = [[start, end, random.randint(1, 3)] for start, end in random.sample(roads, len(roads))]
    days = 3 + 2 * difficulty
    return {"roads": roads, "days": days}, ["\\n".join(" ".join(map(str, road)) for road in roads), str(days)]
""",  # noqa: E501
    reader="""
import re


def read(text):
    roads = re.findall(r"^(\\d+) (\\d+) (\\d+)$", text, re.MULTILINE)
    return {"roads": [list(map(int, road)) for road in roads], "days": int(re.search(r"first (\\d+) days", text).group(1))}
""",  # noqa: E501
    voters={
        "primary": """
def solution(inputs):
    if not isinstance(inputs, dict) or {"roads", "days"} - set(inputs):
        return {"status": "schema_error", "detail": "roads, days"}
    left, town, total = [tuple(road) for road in inputs["roads"]], 1, 0
    for _ in range(inputs["days"]):
        here = [road for road in left if road[0] == town]
        if here:
            road = min(here, key=lambda road: (road[2], road[1]))
            left.remove(road)
            town = road[1]
        total += town
    return total
""",
        "queues": """
def solution(inputs):
    try:
        ways = {}
        for start, end, toll in inputs["roads"]:
            ways.setdefault(start, []).append(100 * toll + end)
        days = inputs["days"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "roads, days"}
    for way in ways.values():
        way.sort(reverse=True)
    town, visited = 1, []
    while len(visited) < days:
        if ways.get(town):
            town = ways[town].pop() % 100
        visited.append(town)
    return sum(visited)
""",
        "scanning": """
def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("roads"), list):
        return {"status": "schema_error", "detail": "roads, days"}
    used, town, total, day = set(), 1, 0, 0
    while day < inputs["days"]:
        best = None
        for number, (start, end, toll) in enumerate(inputs["roads"]):
            if start != town or number in used:
                continue
            if best is None or toll < best[0] or toll == best[0] and end < best[1]:
                best = toll, end, number
        if best is not None:
            used.add(best[2])
            town = best[1]
        total += town
        day += 1
    return total
""",
    },
)
