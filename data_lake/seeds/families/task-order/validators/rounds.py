"""After every task the whole list is looked through again for the best one that waits for nothing undone."""

CHOICE = "first"
ASKED = "start"


def better(task, other, tasks):
    if CHOICE == "listed":
        return tasks.index(task) < tasks.index(other)
    return task < other if CHOICE == "first" else task > other


def solution(inputs):
    try:
        tasks, before, place = inputs["tasks"], inputs["before"], inputs["place"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "tasks, before, place"}
    undone = set(tasks)
    wanted = place if ASKED == "start" else len(tasks) + 1 - place
    chosen = None
    for _ in range(wanted):
        chosen = None
        for task in tasks:
            if task not in undone or any(later == task and earlier in undone for earlier, later in before):
                continue
            if chosen is None or better(task, chosen, tasks):
                chosen = task
        if chosen is None:
            return {"status": "schema_error", "detail": "tasks wait for one another"}
        undone.remove(chosen)
    return chosen
