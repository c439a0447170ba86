"""The least number of moves to a cell after the moves."""

set_up = move = None
# --- program ---


def after(board, moves):
    w = set_up(board)
    for j in moves:
        move(w, j)
    return w


def shortest(w, goal, limit):
    """The least number of moves to a cell, 0 for none up to the limit."""
    layer, seen = [w], set()
    for number in range(limit + 1):
        if any(one["at"] == goal for one in layer):
            return number
        following = []
        for one in layer:
            for j in range(4):
                other = {**one, "things": set(one["things"])}
                move(other, j)
                state = (other["at"], other["pause"], frozenset(other["things"]))
                if state not in seen:
                    seen.add(state)
                    following.append(other)
        layer = following
    return 0
