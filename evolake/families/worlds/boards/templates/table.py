"""A validator of a board that works with arrays."""

KINDS = {}
PUSH = WALL = EDGE = MARK = None
__answer__ = __constants__ = __rules__ = None
# --- program ---
"""Arrays of whole boards, with a rim around them; every rule is worked out on all of them."""

import numpy as np

__constants__
__rules__


def drawn(board):
    """What never changes, on a board with a rim of cells that are not on it."""
    letters = np.pad(np.array([list(row) for row in board]), 1, constant_values=" ").ravel()
    width, marks = len(board[0]) + 2, np.flatnonzero(letters == "x")
    following = np.arange(letters.size)
    following[marks] = np.roll(marks, -1)
    return {
        "open": np.isin(letters, list(".ox@")), "wall": letters == "#", "mark": letters == "x", "rim": letters == " ", "letters": letters,
        "width": width, "across": width - 3, "down": len(board) - 1, "far": max(len(board), width), "next": following,
        "steps": np.array([-width, 1, width, -1]),
    }


def begun(b, starts, box):
    return {"at": starts, "home": starts, "began": starts, "pause": 0 * starts, "box": box}


def held(z, cells):
    return z["box"][np.arange(z["at"].size), cells]


def hop(z, b, cells):
    cells = np.clip(cells, 0, b["open"].size - 1)
    return np.where(b["open"][cells] & ~held(z, cells), cells, z["at"])


def reach(z, b, s, first, most, over=True):
    ray = z["at"][:, None] + s[0] * np.arange(first, first + most)
    ray, before = (np.clip(one, 0, b["open"].size - 1) for one in (ray, ray - s[0]))
    clear = b["open"][ray] & ~np.take_along_axis(z["box"], ray, axis=1) & (over if over is True else over[before])
    return np.logical_and.accumulate(clear, axis=1).sum(axis=1)


def lined(z, b, s):
    """How many things follow one another ahead, 0 where the cell beyond the last is not free."""
    ray = np.clip(z["at"][:, None] + s[0] * np.arange(1, b["far"]), 0, b["open"].size - 1)
    count = np.logical_and.accumulate(np.take_along_axis(z["box"], ray, axis=1), axis=1).sum(axis=1)
    beyond = np.clip(z["at"] + s[0] * (count + 1), 0, b["open"].size - 1)
    return count * (b["open"][beyond] & ~held(z, beyond))


def pushed(z, s, k, follow=True):
    rows = np.flatnonzero(k)
    ahead, box = z["at"] + s[0], z["box"].copy()
    box[rows, ahead[rows]] = False
    box[rows, (ahead + k * s[0])[rows]] = True
    return {"box": box, "at": np.where((k != 0) & follow, ahead, z["at"])}


def merged(z, columns, rows):
    """The columns in these rows, the old ones in the others."""
    return {**z, **{name: np.where(rows[:, None] if name == "box" else rows, column, z[name]) for name, column in columns.items()}}


def moved(z, b, j):
    s, awake = np.roll(b["steps"], -j), z["pause"] == 0
    z = {**z, "began": z["at"], "pause": np.maximum(z["pause"] - 1, 0)}
    ahead = z["at"] + s[0]
    things = held(z, ahead)
    new = merged(z, {"at": ahead}, awake & b["open"][ahead] & ~things)
    for rule, hit in ((WALL, b["wall"][ahead]), (EDGE, b["rim"][ahead]), (PUSH, things)):
        if (awake & hit).any():
            rows = np.flatnonzero(awake & hit)
            some = {name: column[rows] for name, column in z.items()}
            for name, column in KINDS[rule](some, b, s).items():
                new[name][rows] = column
    came = awake & (new["at"] != z["at"]) & b["mark"][new["at"]]
    return merged(new, KINDS[MARK](new, b, s, came), awake)


def walked(z, b, moves):
    """(numbers of cells after each move from the start on, boards after each), of many boards at once."""
    states = [z]
    for j in moves:
        z = moved({name: column.copy() for name, column in z.items()}, b, j)
        states.append(z)
    return np.array([one["at"] for one in states]), np.array([one["box"] for one in states])


def solution(inputs):
    if not isinstance(inputs, dict) or {"board", "moves", "ask"} - set(inputs):
        return {"status": "schema_error", "detail": "board, moves, ask"}
    ask = inputs["ask"]
    b = drawn(inputs["board"])
    places, boxes = walked(begun(b, np.flatnonzero(b["letters"] == "@"), (b["letters"] == "o")[None]), b, inputs["moves"])
    at, box = places[:, 0], boxes[:, 0]
    __answer__
