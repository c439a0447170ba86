"""Marks every hour at which somebody works."""


def check(inputs, answer):
    if not isinstance(answer, list):
        return False
    busy, number = set(), 0
    for order in inputs["jobs"]:
        begin = answer[number]
        number += 1
        if isinstance(begin, bool) or not isinstance(begin, int):
            return False
        open_hours = range(order[0], order[2])
        for hour in range(begin, begin + order[1]):
            if hour in busy or hour not in open_hours:
                return False
            busy.add(hour)
    return number == len(answer)
