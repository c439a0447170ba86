"""Minute by minute: which clocks ring in it?"""

TOGETHER = "each"
SNOOZE = 0


def solution(inputs):
    try:
        alarms, left = inputs["alarms"], inputs["asked"]
        minute = min(first for first, _ in alarms)
    except (TypeError, KeyError, ValueError):
        return {"status": "schema_error", "detail": "alarms and asked"}
    while True:
        ringing = sum(minute >= first and (minute - first) % every == 0 for first, every in alarms)
        if SNOOZE and not minute % SNOOZE:
            ringing = 0
        left -= min(ringing, 1) if TOGETHER == "once" else ringing
        if left <= 0:
            return minute
        minute += 1
