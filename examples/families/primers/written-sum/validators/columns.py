"""Numbers by how often they occur: the sum from multiples, the largest from the last one in order."""

from collections import Counter

ASKED = "sum"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("numbers"), list):
        return {"status": "schema_error", "detail": "numbers"}
    often = Counter(inputs["numbers"])
    if ASKED == "largest":
        return sorted(often)[-1]
    return sum(number * count for number, count in often.items())
