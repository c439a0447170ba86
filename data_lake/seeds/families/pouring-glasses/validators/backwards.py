"""Backwards: how much of each glass's contents, at each moment, ends up in the asked glass. Syrup only moves; the volume follows alike."""

from fractions import Fraction

REFILL = 0
ASKED = "syrup"


def carried(inputs, start, refilled):
    """What ends in the asked glass of a quantity that is spread over the glasses as in `start`; refilled: sources get back what they gave."""
    weights = [Fraction(int(glass == inputs["asked"])) for glass in range(1, len(start) + 1)]
    for source, target, part in reversed(inputs["pours"]):
        given = Fraction(1, part)
        stays = Fraction(1) if refilled else 1 - given
        weights[source - 1] = stays * weights[source - 1] + given * weights[target - 1]
    return sum(weight * amount for weight, amount in zip(weights, start, strict=True))


def solution(inputs):
    try:
        syrup = carried(inputs, [pair[0] for pair in inputs["glasses"]], False)
        volume = carried(inputs, [pair[0] + pair[1] for pair in inputs["glasses"]], REFILL == 1)
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "glasses, pours, asked"}
    asked = {"syrup": syrup, "water": volume - syrup, "share": Fraction(syrup) / volume}[ASKED]
    return asked.numerator if asked.denominator == 1 else asked
