"""Who is infected first is settled first (Dijkstra): a queue by the day of infection."""

import heapq

DELAY = 1
LENGTH = 1000
ASKED = "saved"


def days_of_infection(by_person, first, absent):
    days, queue = {}, [(0, first)]
    while queue:
        since, person = heapq.heappop(queue)
        if person in days:
            continue
        days[person] = since
        if person == absent:
            continue
        for day, other in by_person.get(person, ()):
            if other not in days and other != absent and since + DELAY <= day < since + DELAY + LENGTH:
                heapq.heappush(queue, (day, other))
    return days


def solution(inputs):
    try:
        by_person = {}
        for day, one, other in inputs["meetings"]:
            by_person.setdefault(one, []).append((day, other))
            by_person.setdefault(other, []).append((day, one))
        count, first, home = inputs["count"], inputs["first"], inputs["home"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "count, meetings, first, home"}
    with_all = days_of_infection(by_person, first, None)
    without = days_of_infection(by_person, first, home)
    if ASKED == "saved":
        return len(with_all) - len(without)
    return count - len(without) if ASKED == "spared" else len(with_all) - (home in with_all)
