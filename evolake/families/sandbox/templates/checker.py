"""A checker as a validator whose answer is the list of its verdicts."""

check = None
__source__ = __inputs__ = __answers__ = None
# --- program ---
__source__


import json as part_json


def part_verdict(inputs, answer):
    judge, (inputs, answer) = check, part_json.loads(part_json.dumps([inputs, answer]))
    try:
        verdict = judge(inputs, answer)
    except Exception:
        return False
    if verdict is True or verdict is False:
        return verdict
    raise TypeError("check returned neither True nor False")


def solution(task):
    return [part_verdict(__inputs__, answer) for answer in __answers__]
