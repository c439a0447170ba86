"""The primary of jobs."""

FIRST = ""
__answer__ = __constants__ = None
# --- program ---
"""From the end of one job to the next."""

import heapq

__constants__


def solution(inputs):
    jobs = inputs["jobs"]

    def claim(number):
        time = jobs[number - 1][0]
        if FIRST == "longest":
            return (-time, number)
        if FIRST == "shortest":
            return (time, number)
        if FIRST == "latest":
            return (-number, number)
        return (-sum(number in needs for _, needs in jobs), number)

    ends, running, waiting, now, free = {}, [], set(range(1, len(jobs) + 1)), 0, inputs["workers"]
    while waiting or running:
        ready = [number for number in waiting if all(one in ends and ends[one] <= now for one in jobs[number - 1][1])]
        if free and ready:
            number = min(ready, key=claim)
            waiting.remove(number)
            ends[number] = now + jobs[number - 1][0]
            heapq.heappush(running, ends[number])
            free -= 1
        else:
            now = heapq.heappop(running)
            free += 1
    __answer__
