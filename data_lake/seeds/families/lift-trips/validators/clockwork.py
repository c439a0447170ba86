"""The lift as a machine with a clock: it boards, moves a floor, stops, and comes down."""

from itertools import accumulate

BOARD = "order"
LOADING = 0
ASKED = "last"


def solution(inputs):
    if not isinstance(inputs, dict) or {"people", "load"} - set(inputs):
        return {"status": "schema_error", "detail": "people and load"}
    waiting = {number: tuple(person) for number, person in enumerate(inputs["people"])}
    clock, runs = 0, 0
    while waiting:
        boarded = []
        if BOARD == "order":
            numbers = sorted(waiting)
            sums = accumulate(waiting[number][0] for number in numbers)
            boarded = [number for number, weight in zip(numbers, sums, strict=True) if weight <= inputs["load"]]
        else:
            for number in sorted(waiting):
                if sum(waiting[other][0] for other in boarded) + waiting[number][0] <= inputs["load"]:
                    boarded.append(number)
        if not boarded:
            return {"status": "schema_error", "detail": "nobody can board"}
        clock += LOADING * len(boarded)
        inside = [waiting.pop(number)[1] for number in boarded]
        floor = 0
        while inside:
            floor += 1
            clock += 3
            if floor in inside:
                clock += 8
                inside = [other for other in inside if other != floor]
        while floor:
            floor -= 1
            clock += 3
        runs += 1
        if ASKED == "second" and runs == 2:
            break
    return clock
