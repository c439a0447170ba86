"""A board, changed move by move."""

KINDS = {}
PUSH = WALL = EDGE = MARK = None
# --- program ---


STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))


def towards(cell, j, n=1):
    down, along = STEPS[j % 4]
    return cell[0] + n * down, cell[1] + n * along


def free(w, cell):
    return w["ground"].get(cell, "#") != "#" and cell not in w["things"] and cell != w["at"]


def go(w, cell):
    """Goes there if it is free, and tells whether it was."""
    went = free(w, cell)
    if went:
        w["at"] = cell
    return went


def set_up(board, start=None):
    cells = {(r, c): letter for r, row in enumerate(board, start=1) for c, letter in enumerate(row, start=1)}
    at = start or next(cell for cell in cells if cells[cell] == "@")
    return {
        "ground": {cell: letter if letter in "#x" else "." for cell, letter in cells.items()}, "at": at, "home": at, "pause": 0,
        "things": {cell for cell in cells if cells[cell] == "o"}, "rows": len(board), "columns": len(board[0]),
    }


def move(w, j):
    if w["pause"]:
        w["pause"] -= 1
        return
    began, ahead = w["at"], towards(w["at"], j)
    if not go(w, ahead):
        KINDS[PUSH if ahead in w["things"] else WALL if ahead in w["ground"] else EDGE](w, j)
    KINDS[MARK](w, j, w["at"] != began and w["ground"][w["at"]] == "x", began)
