"""A validator of numbers that strikes out what does not fit."""

SHAPE = TOTAL = ""
__answer__ = __constants__ = None
# --- program ---
"""The numbers with the right remainder, of which the others are struck out."""

from collections import Counter

__constants__


def solution(inputs):
    low, high, step = inputs["low"], inputs["high"], inputs["divisor"]
    first = low + (inputs["remainder"] - low) % step
    left = set(range(first, high + 1, step))
    for number in sorted(left):
        word = str(number)
        most = max(Counter(word).values())
        wrong = {
            "different": most > 1, "repeated": most == 1, "rising": list(word) != sorted(word), "falling": ord(word[-1]) >= ord(word[0]),
        }[SHAPE]
        odd_digits = sum(digit in "13579" for digit in word)
        off = {"even": odd_digits % 2 == 1, "odd": odd_digits % 2 == 0, "third": number % 3 != 0}[TOTAL]
        if wrong or off:
            left.discard(number)
    __answer__
