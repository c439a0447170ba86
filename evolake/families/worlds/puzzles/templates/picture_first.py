"""A validator of pictures that traces every place back to where its letter was."""

TURN = FLIP = PUSH = ""
__answer__ = __constants__ = None
# --- program ---
"""From the last command to the first: where a letter was before."""

__constants__


def before(command, r, c, n):
    """The place before the command of the letter that is at (r, c) after it."""
    last = n - 1
    if command == "turn":
        return (last - c, r) if TURN == "right" else (c, last - r)
    if command == "flip":
        return {"sides": (r, last - c), "ends": (last - r, c), "diagonal": (c, r)}[FLIP]
    if PUSH == "all":
        return (r - 1) % n, c
    if PUSH == "row" and r == 0:
        return 0, (c - 1) % n
    if PUSH == "column" and c == 0:
        return (r - 1) % n, 0
    return r, c


def solution(inputs):
    n, found = len(inputs["rows"]), {}
    for r in range(n):
        for c in range(n):
            place = (r, c)
            for command in inputs["commands"][::-1]:
                place = before(command, *place, n)
            found[r, c] = inputs["rows"][place[0]][place[1]]
    __answer__
