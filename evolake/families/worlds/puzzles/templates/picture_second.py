"""A validator of pictures that works with arrays."""

TURN = FLIP = PUSH = ""
__answer__ = __constants__ = None
# --- program ---
"""An array, changed by the operations of numpy."""

import numpy as np

__constants__


def solution(inputs):
    square = np.array([list(row) for row in inputs["rows"]])
    for command in inputs["commands"]:
        if command == "turn":
            square = np.rot90(square, -1 if TURN == "right" else 1)
        elif command == "flip":
            square = {"sides": np.fliplr, "ends": np.flipud, "diagonal": np.transpose}[FLIP](square)
        elif PUSH == "all":
            square = np.roll(square, 1, axis=0)
        else:
            square = square.copy()
            line = (0, slice(None)) if PUSH == "row" else (slice(None), 0)
            square[line] = np.roll(square[line], 1)
    __answer__
