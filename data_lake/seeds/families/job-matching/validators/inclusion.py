"""Inclusion and exclusion over the tasks: let several workers share a task of a set S, then take the shared ones out with alternating signs.

The ways in which k workers pick tasks of S, shared or not, are the coefficient of t^k in the product of all (1 + a t), where a is the number of
tasks of S that a worker may do.
"""

from itertools import combinations
from math import comb

MEANING = "willing"
AMOUNT = "exactly"


def solution(inputs):
    if not isinstance(inputs, dict) or {"named", "tasks", "given"} - set(inputs):
        return {"status": "schema_error", "detail": "named, tasks, given"}
    tasks, named = inputs["tasks"], [set(names) for names in inputs["named"]]
    exactly = [0] * (len(named) + 1)
    for size in range(tasks + 1):
        for chosen in combinations(range(1, tasks + 1), size):
            picks = [1]
            for names in named:
                may = sum((task not in names) is (MEANING == "refused") for task in chosen)
                picks = [one + may * other for one, other in zip([*picks, 0], [0, *picks], strict=True)]
            for given in range(size, min(tasks, len(named)) + 1):
                exactly[given] += (-1) ** (given - size) * comb(tasks - size, given - size) * picks[given]
    wanted = inputs["given"]
    return sum(exactly[wanted:]) if AMOUNT == "atleast" else sum(exactly[wanted : wanted + 1])
