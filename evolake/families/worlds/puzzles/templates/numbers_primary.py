"""The primary of numbers."""

SHAPE = TOTAL = ""
__answer__ = __constants__ = None
# --- program ---
"""Number after number, its digits taken by division."""

__constants__


def digits_of(number):
    digits = []
    while number:
        number, digit = divmod(number, 10)
        digits.insert(0, digit)
    return digits


def shaped(digits):
    if SHAPE == "rising":
        return all(one <= other for one, other in zip(digits, digits[1:]))
    if SHAPE == "falling":
        return digits[0] > digits[-1]
    repeated = any(digits.count(digit) > 1 for digit in digits)
    return repeated if SHAPE == "repeated" else not repeated


def solution(inputs):
    found = []
    for number in range(inputs["low"], inputs["high"] + 1):
        digits = digits_of(number)
        part = sum(digits) % (3 if TOTAL == "third" else 2)
        if (number - inputs["remainder"]) % inputs["divisor"] == 0 and shaped(digits) and part == (TOTAL == "odd"):
            found.append(number)
    __answer__
