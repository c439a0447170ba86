"""Write each line's timetable down and search the bus in it by bisection."""

from bisect import bisect_left, bisect_right

CHANGE = 0
EDGE = "caught"


def solution(inputs):
    if not isinstance(inputs, dict) or {"legs", "start"} - set(inputs):
        return {"status": "schema_error", "detail": "legs and start"}
    latest = inputs["start"] + sum(first + 2 * every + ride + CHANGE for first, every, ride in inputs["legs"])
    at_stop = inputs["start"]
    end = None
    for first, every, ride in inputs["legs"]:
        timetable = list(range(first, latest + every, every))
        search = bisect_left if EDGE == "caught" else bisect_right
        end = timetable[search(timetable, at_stop)] + ride
        at_stop = end + CHANGE
    return end
