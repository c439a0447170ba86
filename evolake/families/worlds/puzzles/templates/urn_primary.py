"""The primary of the urn."""

BACK = ""
__answer__ = __constants__ = None
# --- program ---
"""Every sequence of colours with its probability."""

from fractions import Fraction
from itertools import product

__constants__


def solution(inputs):
    colour, wanted = inputs["colour"], inputs["wanted"]

    def weight(drawn):
        """The probability of this sequence."""
        inside, result = dict(zip(inputs["colours"], inputs["counts"])), Fraction(1)
        for one in drawn:
            if inside[one] <= 0:
                return Fraction(0)
            result *= Fraction(inside[one], sum(inside.values()))
            if BACK == "kept":
                inside[one] -= 1
            if BACK == "more":
                inside[one] += 1
        return result

    def chance(event):
        return sum((weight(drawn) for drawn in product(inputs["colours"], repeat=inputs["draws"]) if event(drawn)), Fraction(0))

    __answer__
