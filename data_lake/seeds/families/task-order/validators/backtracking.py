"""The first of all orders that are allowed, when orders are gone through as words in a dictionary; sets of tasks are bits."""

CHOICE = "first"
ASKED = "start"


def orders(needs, done, line):
    """All orders that begin with `line`, in order of rank; done: its tasks as bits."""
    if len(line) == len(needs):
        yield line
        return
    for task, needed in enumerate(needs):
        if not done >> task & 1 and needed & done == needed:
            yield from orders(needs, done | 1 << task, [*line, task])


def solution(inputs):
    if not isinstance(inputs, dict) or {"tasks", "before", "place"} - set(inputs):
        return {"status": "schema_error", "detail": "tasks, before, place"}
    ranked = {"first": sorted(inputs["tasks"]), "last": sorted(inputs["tasks"])[::-1], "listed": inputs["tasks"]}[CHOICE]
    needs = [0] * len(ranked)
    for earlier, later in inputs["before"]:
        needs[ranked.index(later)] |= 1 << ranked.index(earlier)
    line = next(orders(needs, 0, []), None)
    if line is None:
        return {"status": "schema_error", "detail": "tasks wait for one another"}
    if ASKED == "end":
        line = line[::-1]
    return ranked[line[inputs["place"] - 1]]
