"""Every way of handing out is walked through."""

MEANING = "willing"
AMOUNT = "exactly"


def solution(inputs):
    try:
        lists, tasks, wanted = inputs["named"], set(range(1, inputs["tasks"] + 1)), inputs["given"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "named, tasks, given"}
    choices = [set(named) if MEANING == "willing" else tasks - set(named) for named in lists]

    def walk(worker, free, left):
        if left == 0 and AMOUNT == "exactly":
            return 1
        if len(choices) - worker < left:
            return 0
        if worker == len(choices):
            return 1
        ways = walk(worker + 1, free, left)
        for task in choices[worker] & free:
            ways += walk(worker + 1, free - {task}, max(0, left - 1))
        return ways

    return walk(0, tasks, wanted)
