"""The primary of the game."""

AGAIN = END = ""
__answer__ = __constants__ = None
# --- program ---
"""Who wins a state, from what can be reached from it."""

from functools import cache

__constants__


def solution(inputs):
    takes, most = inputs["takes"], inputs["most"]

    @cache
    def wins(size, last):
        allowed = [one for one in takes if one <= size and not (AGAIN == "other" and one == last)]
        if not allowed:
            return END == "wins"
        return any(not wins(size - one, one) for one in allowed)

    __answer__
