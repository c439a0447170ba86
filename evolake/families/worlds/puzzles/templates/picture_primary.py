"""The primary of pictures."""

TURN = FLIP = PUSH = ""
__answer__ = __constants__ = None
# --- program ---
"""Rows of letters, changed command by command."""

__constants__


def turned(square):
    if TURN == "right":
        return [[row[c] for row in reversed(square)] for c in range(len(square))]
    return [[row[c] for row in square] for c in reversed(range(len(square)))]


def flipped(square):
    if FLIP == "sides":
        return [row[::-1] for row in square]
    if FLIP == "ends":
        return square[::-1]
    return [list(column) for column in zip(*square)]


def pushed(square):
    if PUSH == "row":
        return [square[0][-1:] + square[0][:-1], *square[1:]]
    if PUSH == "column":
        return [[square[r - 1][0], *row[1:]] for r, row in enumerate(square)]
    return square[-1:] + square[:-1]


def solution(inputs):
    square = [list(row) for row in inputs["rows"]]
    for command in inputs["commands"]:
        square = {"turn": turned, "flip": flipped, "push": pushed}[command](square)
    __answer__
