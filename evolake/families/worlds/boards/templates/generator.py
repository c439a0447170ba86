"""The generator of a board."""

set_up = towards = move = travelled = None
KINDS = {}
WALL = EDGE = PUSH = MARK = None
ask = {}
__constants__ = __make__ = __moving__ = __names__ = __ways__ = None
# --- program ---
import random

NAMES = __names__
WAYS = __ways__
__constants__
__moving__


def drawn(difficulty):
    """A board and moves in which the mover gets about."""
    rows, columns = 4 + difficulty // 4, 5 + difficulty // 5
    while True:
        things, marks, walls = 3 + difficulty // 5, 3 + difficulty // 4, rows * columns // 6 + random.randrange(2)
        letters = list("@" + "o" * things + "x" * marks + "#" * walls)
        letters += "." * (rows * columns - len(letters))
        random.shuffle(letters)
        board = ["".join(letters[r * columns : (r + 1) * columns]) for r in range(rows)]
        w, moves = set_up(board), []
        for _ in range(7 + difficulty):
            ways = random.sample(range(4), 2)
            j = next((j for j in ways if w["ground"].get(towards(w["at"], j)) != "." or towards(w["at"], j) in w["things"]), ways[0])
            moves.append(j)
            move(w, j)
        trace = travelled(board, moves)
        if len({at for at, _ in trace}) > 2 + difficulty // 5:
            return board, moves, w, trace


def biting(board, moves, trace):
    """How many of the rules another course comes of, and another end of it, if nothing is done by them."""
    count = 0
    for rule in (WALL, EDGE, PUSH, MARK):
        does, KINDS[rule] = KINDS[rule], lambda *some: None
        other = travelled(board, moves)
        KINDS[rule] = does
        count += (other != trace) + (other[-1][0] != trace[-1][0])
    return count


def input(difficulty):
    board, moves, w, trace = max((drawn(difficulty) for _ in range(8)), key=lambda some: biting(*some[:2], some[3]))
    ground = w["ground"]
    __make__
    lines = [f"- Row {r}: {', '.join(NAMES[letter] for letter in row)}." for r, row in enumerate(board, start=1)]
    return {"board": board, "moves": moves, "ask": ask}, ["\n".join(lines), ", ".join(WAYS[j] for j in moves), *map(str, ask.values())]
