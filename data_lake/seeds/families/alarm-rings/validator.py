"""Merge the clocks with a heap."""

import heapq

TOGETHER = "each"
SNOOZE = 0


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("alarms"), list) or not isinstance(inputs.get("asked"), int):
        return {"status": "schema_error", "detail": "alarms and asked"}
    clocks = [(first, every) for first, every in inputs["alarms"]]
    heapq.heapify(clocks)
    rings, latest = 0, None
    while True:
        minute, every = heapq.heappop(clocks)
        heapq.heappush(clocks, (minute + every, every))
        muted = SNOOZE and minute % SNOOZE == 0
        if not muted and (TOGETHER == "each" or minute != latest):
            rings += 1
            latest = minute
            if rings == inputs["asked"]:
                return minute
