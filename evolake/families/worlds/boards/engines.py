"""The sources of a board's family: generator, reader and three engines that share no code.

    simulation  one board, changed move by move
    table       arrays of whole boards, many at once, every rule on all of them
    clauses     a variable for each move and cell (boards.clauses)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import indent

from evolake.families.worlds.boards.clauses import CLAUSES, SOLVED
from evolake.families.worlds.boards.questions import BoardQuestion
from evolake.families.worlds.boards.rules import Chosen, functions
from evolake.families.worlds.parts import constants_of

Rules = Mapping[str, Sequence[Chosen]]
"""Point -> its alternatives, of which the first is in force."""
RUN = '''

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
'''
TRAVELLED = '''

def travelled(board, moves, start=None):
    """(cell of the mover, cells of things) before the first move and after each."""
    w = set_up(board, start)
    trace = [(w["at"], frozenset(w["things"]))]
    for j in moves:
        move(w, j)
        trace.append((w["at"], frozenset(w["things"])))
    return trace
'''
SHORTEST = '''

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
'''
CHECKED = '''

def solution(inputs):
    if not isinstance(inputs, dict) or {"board", "moves", "ask"} - set(inputs):
        return {"status": "schema_error", "detail": "board, moves, ask"}
    ask = inputs["ask"]
'''
TABLE = '''

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
    """(numbers of cells after each move from the start on, boards after each, the last state), of many boards at once."""
    states = [z]
    for j in moves:
        z = moved({name: column.copy() for name, column in z.items()}, b, j)
        states.append(z)
    return np.array([one["at"] for one in states]), np.array([one["box"] for one in states]), z


def spread(z, b):
    """Every state that a move makes of these, each once."""
    made = [moved({name: column.copy() for name, column in z.items()}, b, j) for j in range(4)]
    joined = {name: np.concatenate([one[name] for one in made]) for name in z}
    _, first = np.unique(np.column_stack([joined["at"], joined["pause"], joined["box"]]), axis=0, return_index=True)
    return {name: column[first] for name, column in joined.items()}
'''
TABLE_BODY = '''    b = drawn(inputs["board"])
    places, boxes, end = walked(begun(b, np.flatnonzero(b["letters"] == "@"), (b["letters"] == "o")[None]), b, inputs["moves"])
    at, box = places[:, 0], boxes[:, 0]
'''
GENERATE = '''

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
MAKE    lines = [f"- Row {r}: {', '.join(NAMES[letter] for letter in row)}." for r, row in enumerate(board, start=1)]
    return {"board": board, "moves": moves, "ask": ask}, ["\\n".join(lines), ", ".join(WAYS[j] for j in moves), *map(str, ask.values())]
'''
READ = '''

def read(text):
    match = re.fullmatch(WHOLE, text.strip(), re.DOTALL)
    if match is None:
        raise ValueError("not a statement of this family")
    board = []
    for number, line in enumerate(match["slot1"].split("\\n"), start=1):
        found = re.fullmatch(r"- Row (\\d+): (.+)\\.", line)
        if found is None or int(found[1]) != number:
            raise ValueError(f"not in order: {line}")
        board.append("".join(LETTERS[name] for name in found[2].split(", ")))
    if len(set(map(len, board))) != 1 or "".join(board).count("@") != 1:
        raise ValueError("not a board: rows of one length, and one who moves")
    return {"board": board, "moves": [WAYS.index(way) for way in match["slot2"].split(", ")], "ask": {ASK}}
'''


def simulation_source(rules: Rules, question: BoardQuestion) -> str:
    """The primary."""
    body = '    w = after(inputs["board"], inputs["moves"])\n' if question.further else (
        '    trace = travelled(inputs["board"], inputs["moves"])\n    ground = set_up(inputs["board"])["ground"]\n'
    )
    own = SHORTEST if question.further else TRAVELLED
    moved = constants_of(rules) + functions(_all(rules), "run") + RUN
    return '"""One board, changed move by move."""\n\n' + moved + own + CHECKED + f"{body}{question.run}\n"


def table_source(rules: Rules, question: BoardQuestion) -> str:
    """An independent validator."""
    return (
        '"""Arrays of whole boards, with a rim around them; every rule is worked out on all of them."""\n\nimport numpy as np\n\n'
        + constants_of(rules) + functions(_all(rules), "table") + TABLE + CHECKED + TABLE_BODY + f"{question.table}\n"
    )


def clauses_source(rules: Rules, question: BoardQuestion) -> str:
    """An independent validator."""
    homes = 'kinds["@"] + kinds["."]' if question.open_start else 'kinds["@"]'
    return (
        '"""A variable says that somebody or something is in a cell after a move; a SAT solver finds the course that clauses allow."""'
        "\n\nfrom pysat.solvers import Minisat22\n\n" + constants_of(rules) + functions(_all(rules), "relation") + CLAUSES + CHECKED
        + SOLVED.replace("HOMES", homes).replace("FURTHER", 'ask["limit"]' if question.further else "0") + indent(question.clauses, "    ") + "\n"
    )


def generator_source(rules: Rules, question: BoardQuestion, names: Mapping[str, str], ways: Sequence[str]) -> str:
    """The generator. names: letter -> what the cell is called. ways: the words of the directions, clockwise from north on."""
    return (
        "import random\n\n" + f"NAMES = {dict(names)!r}\nWAYS = {list(ways)!r}\n" + constants_of(rules) + functions(_all(rules), "run") + RUN
        + TRAVELLED + (SHORTEST if question.further else "") + GENERATE.replace("MAKE", question.make)
    )


def reader_source(whole: str, declared: str, question: BoardQuestion, names: Mapping[str, str], ways: Sequence[str]) -> str:
    """The reader. whole: the expression of the whole statement. declared: the assignment of its sentences."""
    ask = ", ".join(f'"{key}": int(match["slot{slot}"])' for slot, key in enumerate(question.keys, start=3))
    letters = {name: letter for letter, name in names.items()}
    return (
        "import re\n\n" + f"LETTERS = {letters!r}\nWAYS = {list(ways)!r}\nWHOLE = {whole!r}\n{declared}" + READ.replace("ASK", ask)
    )


def _all(rules: Rules) -> list[Chosen]:
    return [rule for alternatives in rules.values() for rule in alternatives]
