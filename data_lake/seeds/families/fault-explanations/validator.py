"""Fault after fault: how many sets there are for each union of alarms and each number of faults."""

from collections import Counter

OTHER = "never"
SIZE = "most"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("faults"), list) or {"alarms", "ringing", "most"} - set(inputs):
        return {"status": "schema_error", "detail": "alarms, faults, ringing, most"}
    ringing = sum(1 << alarm for alarm in inputs["ringing"])
    ways = Counter({(0, 0): 1})
    for caused in inputs["faults"]:
        bits = sum(1 << alarm for alarm in caused)
        if bits & ~ringing:
            continue
        for (union, size), count in list(ways.items()):
            if size < inputs["most"]:
                ways[union | bits, size + 1] += count
    spare = {"never": 0, "false": len(inputs["ringing"]), "one": 1}[OTHER]
    return sum(
        count for (union, size), count in ways.items()
        if bin(ringing & ~union).count("1") <= spare and (SIZE == "most" or size == inputs["most"])
    )
