"""Whole drops: all amounts in drops so small that every pouring moves a whole number of them."""

from fractions import Fraction
from math import prod

REFILL = 0
ASKED = "syrup"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("pours"), list) or {"glasses", "asked"} - set(inputs):
        return {"status": "schema_error", "detail": "glasses, pours, asked"}
    drops = prod(part for _, _, part in inputs["pours"])
    glasses = {number: {"syrup": pair[0] * drops, "water": pair[1] * drops} for number, pair in enumerate(inputs["glasses"], start=1)}
    for source, target, part in inputs["pours"]:
        moved = 0
        for liquid in ("syrup", "water"):
            amount = glasses[source][liquid] // part
            glasses[source][liquid] -= amount
            glasses[target][liquid] += amount
            moved += amount
        if REFILL:
            glasses[source]["water"] += moved
    glass = glasses[inputs["asked"]]
    upper, lower = (glass["syrup"], sum(glass.values())) if ASKED == "share" else (glass[ASKED], drops)
    return upper // lower if upper % lower == 0 else Fraction(upper, lower)
