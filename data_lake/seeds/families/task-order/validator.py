"""Kahn's algorithm with a heap of the tasks that are ready."""

import heapq

CHOICE = "first"
ASKED = "start"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("tasks"), list) or {"before", "place"} - set(inputs):
        return {"status": "schema_error", "detail": "tasks, before, place"}
    tasks = inputs["tasks"]
    names = tasks if CHOICE == "listed" else sorted(tasks, reverse=CHOICE == "last")
    rank = {task: place for place, task in enumerate(names)}
    missing, opens = dict.fromkeys(tasks, 0), {task: [] for task in tasks}
    for earlier, later in inputs["before"]:
        missing[later] += 1
        opens[earlier].append(later)
    ready = [rank[task] for task in tasks if not missing[task]]
    heapq.heapify(ready)
    done = []
    while ready:
        task = names[heapq.heappop(ready)]
        done.append(task)
        for later in opens[task]:
            missing[later] -= 1
            if not missing[later]:
                heapq.heappush(ready, rank[later])
    if len(done) != len(tasks):
        return {"status": "schema_error", "detail": "tasks wait for one another"}
    return done[inputs["place"] - 1] if ASKED == "start" else done[-inputs["place"]]
