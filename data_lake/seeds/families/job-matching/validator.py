"""Worker after worker, with the number of ways to each set of tasks that are gone (a bit mask)."""

from collections import Counter

MEANING = "willing"
AMOUNT = "exactly"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("named"), list) or not isinstance(inputs.get("tasks"), int):
        return {"status": "schema_error", "detail": "named, tasks, given"}
    ways = Counter({0: 1})
    for named in inputs["named"]:
        following = Counter(ways)
        for task in range(1, inputs["tasks"] + 1):
            if (task in named) == (MEANING == "willing"):
                for gone, number in ways.items():
                    if not gone >> task & 1:
                        following[gone | 1 << task] += number
        ways = following
    if AMOUNT == "exactly":
        return sum(number for gone, number in ways.items() if gone.bit_count() == inputs["given"])
    return sum(number for gone, number in ways.items() if gone.bit_count() >= inputs["given"])
