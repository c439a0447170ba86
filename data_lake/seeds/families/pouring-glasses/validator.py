"""Forwards, with exact fractions of syrup and water."""

from fractions import Fraction

REFILL = 0
ASKED = "syrup"


def solution(inputs):
    if not isinstance(inputs, dict) or {"glasses", "pours", "asked"} - set(inputs):
        return {"status": "schema_error", "detail": "glasses, pours, asked"}
    syrup = [Fraction(pair[0]) for pair in inputs["glasses"]]
    water = [Fraction(pair[1]) for pair in inputs["glasses"]]
    for source, target, part in inputs["pours"]:
        poured = (syrup[source - 1] / part, water[source - 1] / part)
        syrup[source - 1] -= poured[0]
        water[source - 1] += -poured[1] + REFILL * sum(poured)
        syrup[target - 1] += poured[0]
        water[target - 1] += poured[1]
    glass = inputs["asked"] - 1
    found = {"syrup": syrup[glass], "water": water[glass], "share": syrup[glass] / (syrup[glass] + water[glass])}[ASKED]
    return int(found) if found.denominator == 1 else found
