"""How many rings are heard up to a minute, by the rings that each clock adds to those before it; the minute by bisection."""

TOGETHER = "each"
SNOOZE = 0


def solution(inputs):
    if not isinstance(inputs, dict) or {"alarms", "asked"} - set(inputs):
        return {"status": "schema_error", "detail": "alarms and asked"}
    alarms, asked = inputs["alarms"], inputs["asked"]

    def heard(last):
        """Rings up to and with minute `last`."""
        if TOGETHER == "each" and not SNOOZE:
            return sum((last - first) // every + 1 for first, every in alarms if last >= first)
        lists = [[minute for minute in range(first, last + 1, every) if not SNOOZE or minute % SNOOZE] for first, every in alarms]
        return len(set().union(*lists)) if TOGETHER == "once" else sum(map(len, lists))

    low, high = -1, 1
    while heard(high) < asked:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        if heard(middle) < asked:
            low = middle
        else:
            high = middle
    return high
