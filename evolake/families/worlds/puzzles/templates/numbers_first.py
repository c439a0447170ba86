"""A validator of numbers that puts digits together."""

SHAPE = TOTAL = ""
__answer__ = __constants__ = None
# --- program ---
"""Digit by digit: only words that can still become a number of the right shape are made longer."""

__constants__


def grown(word, length):
    """All words of this length that begin with the word and have the right shape."""
    if len(word) == length:
        if SHAPE == "repeated" and len(set(word)) == length or SHAPE == "falling" and not word[-1] < word[0]:
            return
        yield word
        return
    for digit in "0123456789":
        if not word and digit == "0" or SHAPE == "different" and digit in word or SHAPE == "rising" and word and digit < word[-1]:
            continue
        yield from grown(word + digit, length)


def solution(inputs):
    words = []
    for length in range(len(str(inputs["low"])), len(str(inputs["high"])) + 1):
        for word in grown("", length):
            total = sum("0123456789".index(digit) for digit in word)
            summed = total in range(0, 100, 3) if TOTAL == "third" else total in range(TOTAL == "odd", 100, 2)
            if inputs["low"] <= int(word) <= inputs["high"] and summed and int(word) % inputs["divisor"] == inputs["remainder"]:
                words.append(word)
    __answer__
