"""One term is chosen from each factor; count the choices whose powers add up to k, weighted, with memory of (factor, power left)."""

from functools import cache

TURN = "none"
WANTED = "one"


def solution(inputs):
    if not isinstance(inputs, dict) or "factors" not in inputs or "power" not in inputs:
        return {"status": "schema_error", "detail": "factors and power"}
    factors = inputs["factors"]

    def coefficient(number, place):
        if TURN == "even" and number % 2 == 1:
            place = len(factors[number]) - 1 - place
        value = factors[number][place]
        return -value if TURN == "minus" and place % 2 == 1 else value

    @cache
    def ways(number, left):
        if number == len(factors):
            return int(left == 0)
        return sum(coefficient(number, place) * ways(number + 1, left - place) for place in range(min(left + 1, len(factors[number]))))

    lowest = inputs["power"] if WANTED == "one" else 0
    return sum(ways(0, power) for power in range(lowest, inputs["power"] + 1))
