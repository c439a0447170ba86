"""Press the button as often as asked."""

DIGITS = 2
WRAP = "zero"


def press(number, factor, added, modulus):
    total = 0
    while number:
        number, digit = divmod(number, 10)
        total += digit**DIGITS
    total = total * factor + added
    while total >= modulus:
        total -= modulus
    return total if WRAP == "zero" else modulus - total


def solution(inputs):
    try:
        number, numbers = inputs["start"], (inputs["factor"], inputs["added"], inputs["modulus"])
        presses = range(inputs["steps"])
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "start, factor, added, modulus, steps"}
    for _ in presses:
        number = press(number, *numbers)
    return number
