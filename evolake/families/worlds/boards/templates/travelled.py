"""The course of a whole list of moves."""

set_up = move = None
# --- program ---


def travelled(board, moves, start=None):
    """(cell of the mover, cells of things) before the first move and after each."""
    w = set_up(board, start)
    trace = [(w["at"], frozenset(w["things"]))]
    for j in moves:
        move(w, j)
        trace.append((w["at"], frozenset(w["things"])))
    return trace
