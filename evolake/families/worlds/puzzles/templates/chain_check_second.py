"""A checker of chains that follows the open end."""

MEET = TURN = ""
steps = []
__answer__ = __constants__ = None
# --- program ---
"""Follows the numbers that can be at the open end of the row."""

__constants__


def lying(first, second):
    return {"ahead": {(first, second)}, "back": {(second, first)}}.get(TURN) or {(first, second), (second, first)}


def next_numbers(end):
    return {"same": {end}, "step": {end + 1, end - 1}, "sum": {7 - end}}[MEET]


def check(inputs, answer):
    left = [tuple(stone) for stone in inputs["stones"]]
    __answer__
    ends = None
    for step in steps:
        ends = {right for number, right in step if ends is None or any(number in next_numbers(end) for end in ends)}
        if not ends:
            return False
    return True
