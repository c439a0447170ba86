"""The primary of chains."""

MEET = TURN = ""
__answer__ = __constants__ = None
# --- program ---
"""Stone after stone from the left, the first letter that fits, and back where none does."""

__constants__


def solution(inputs):
    row, waiting = [], list(inputs["stones"])

    def fits(number):
        if not row:
            return True
        before = row[-1][2]
        if MEET == "same":
            return before == number
        return abs(before - number) == 1 if MEET == "step" else before + number == 7

    def lay():
        if not waiting:
            return True
        for stone in list(waiting):
            letter, one, other = stone
            for left, right in ((one, other), (other, one)):
                if TURN == "ahead" and (left, right) != (one, other) or TURN == "back" and (left, right) != (other, one):
                    continue
                if fits(left):
                    waiting.remove(stone)
                    row.append((letter, left, right))
                    if lay():
                        return True
                    row.pop()
                    waiting.append(stone)
                    waiting.sort()
        return False

    if not lay():
        raise ValueError("no row keeps the rules")
    __answer__
