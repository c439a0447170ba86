"""Sorts the orders by their begin and looks at neighbours."""

from itertools import pairwise


def check(inputs, answer):
    jobs = inputs["jobs"]
    if not isinstance(answer, list) or len(answer) != len(jobs):
        return False
    if not all(isinstance(start, int) and not isinstance(start, bool) for start in answer):
        return False
    for start, (early, length, late) in zip(answer, jobs, strict=True):
        if start < early or start + length > late:
            return False
    line = sorted((start, start + length) for start, (_, length, _) in zip(answer, jobs, strict=True))
    return all(end <= following for (_, end), (following, _) in pairwise(line))
