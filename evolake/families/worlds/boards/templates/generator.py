"""The generator of a board."""

set_up = towards = move = travelled = None
ask = {}
__constants__ = __make__ = __moving__ = __names__ = __ways__ = None
# --- program ---
import random

NAMES = __names__
WAYS = __ways__
__constants__
__moving__


def input(difficulty):
    rows, columns = 4 + difficulty // 4, 5 + difficulty // 5
    while True:
        things, marks, walls = 3 + difficulty // 5, 3 + difficulty // 4, rows * columns // 6 + random.randrange(2)
        letters = list("@" + "o" * things + "x" * marks + "#" * walls)
        letters += "." * (rows * columns - len(letters))
        random.shuffle(letters)
        board = ["".join(letters[r * columns : (r + 1) * columns]) for r in range(rows)]
        w, moves = set_up(board), []
        for _ in range(5 + difficulty):
            ways = random.sample(range(4), 2)
            j = next((j for j in ways if w["ground"].get(towards(w["at"], j)) != "." or towards(w["at"], j) in w["things"]), ways[0])
            moves.append(j)
            move(w, j)
        trace = travelled(board, moves)
        if len({at for at, _ in trace}) > 2 + difficulty // 5:
            break
    ground = w["ground"]
    __make__
    lines = [f"- Row {r}: {', '.join(NAMES[letter] for letter in row)}." for r, row in enumerate(board, start=1)]
    return {"board": board, "moves": moves, "ask": ask}, ["\n".join(lines), ", ".join(WAYS[j] for j in moves), *map(str, ask.values())]
