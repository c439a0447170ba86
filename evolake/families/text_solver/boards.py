"""Boards: somebody moves over square cells; rules say what happens if the cell ahead is not free."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from evolake.families.text_solver.language import Meaning, Reader, Unreadable, sentences, table

Cell = tuple[int, int]
STEPS: tuple[Cell, ...] = ((-1, 0), (0, 1), (1, 0), (0, -1))
"""Row and column of a step to the first, second, ... direction, clockwise."""
MOST_CELLS, MOST_MOVES = 900, 500


@dataclass
class Board:
    """Where things are; rows and columns are counted from 1. lost: moves that are still to be lost. still:
    for each move that was made, whether all is where it was."""

    rows: int
    columns: int
    walls: frozenset[Cell]
    marks: tuple[Cell, ...]
    home: Cell
    things: set[Cell]
    at: Cell
    lost: int = 0
    before: Cell = field(default=(0, 0))
    still: list[bool] = field(default_factory=list)

    def free(self, cell: Cell) -> bool:
        """Return whether a cell is on the board, and neither wall, thing nor the one who moves is in it."""
        return self.inside(cell) and cell not in self.walls and cell not in self.things and cell != self.at

    def inside(self, cell: Cell) -> bool:
        """Return whether a cell is on the board."""
        return 1 <= cell[0] <= self.rows and 1 <= cell[1] <= self.columns

    def part(self, cell: Cell) -> str:
        """Return what keeps a cell from being free: the edge, a wall or a thing."""
        if not self.inside(cell):
            return "edge"
        return "wall" if cell in self.walls else "thing"

    def go(self, cell: Cell) -> None:
        """Go to a cell if it is free."""
        if self.free(cell):
            self.at = cell

    def run(self, cell: Cell, step: Cell, most: int) -> Cell:
        """Return the last cell that is reached from `cell` in at most so many steps into free cells."""
        while most and self.free(_next(cell, step)):
            cell, most = _next(cell, step), most - 1
        return cell


def _next(cell: Cell, step: Cell, times: int = 1) -> Cell:
    return cell[0] + times * step[0], cell[1] + times * step[1]


def read(text: str) -> Meaning:
    """Return the meaning of a text about a board; raise Unreadable with what has none."""
    tables = table("boards")
    reader = Reader(sentences(text), dict(tables["words"]))
    reader.take(*tables["openings"])
    compass = next(
        (row for row in tables["compass"] if reader.maybe(tables["frame"]["rows"].format(**row)) is not None),
        None,
    )
    if compass is None:
        raise Unreadable(reader.next)
    names = compass["names"]
    reader.take(tables["frame"]["first"].format(**compass))
    rows: list[list[str]] = []
    while (found := reader.maybe("- Row {k}: {words}.")) is not None:
        rows.append(found["words"])
        if found["k"] != len(rows) or len(rows[0]) != len(rows[-1]):
            raise Unreadable("rows that are not numbered one after another, or not of one length")
    words = reader.take(tables["frame"]["below"])
    who, thing, ground = words["word"], words["word1"], words["word2"]
    reader.words |= {"who": who, "Who": who.capitalize(), "thing": thing}
    moves = reader.take(tables["frame"]["moves"])["words"]
    reader.take(tables["frame"]["ahead"])
    said = reader.take(tables["frame"]["free"])
    wall, mark = said["word"], said["word1"]
    reader.words |= {"wall": wall, "mark": mark, "circle": ", ".join([*names, names[0]])}
    reader.words["sides"] = f"{', '.join(names[:3])} or {names[3]}"
    for sentence in tables["frame"]["rules"]:
        reader.take(sentence)
    rules = {
        part: reader.choose({name: tables["ahead"][name] for name in row["may"]}, row["start"])
        for part, row in tables["parts"].items()
    }
    rules["mark"] = reader.choose(tables["mark"], tables["frame"]["last"])
    asked = Reader([" ".join(reversed(reader.rest))], reader.words)
    name, values = asked.choose(tables["questions"])
    cells = {(r, c): kind for r, row in enumerate(rows, 1) for c, kind in enumerate(row, 1)}
    at = [cell for cell, kind in cells.items() if kind == who]
    kinds = {who, thing, ground, wall, mark}
    sound = len(kinds) == 5 and set(cells.values()) <= kinds
    if not sound or len(at) != 1 or set(moves) - set(names):
        raise Unreadable("cells or moves that the text does not explain")
    if len(cells) > MOST_CELLS or len(moves) > MOST_MOVES:
        raise Unreadable("too large")

    def find() -> Any:
        of = {kind: [cell for cell in cells if cells[cell] == kind] for kind in (wall, mark, thing)}
        board = Board(
            len(rows), len(rows[0]), frozenset(of[wall]), tuple(of[mark]), at[0], set(of[thing]), at[0]
        )
        course = [board.at]
        for move in moves:
            then = board.at, set(board.things)
            _move(board, names.index(move), rules)
            course.append(board.at)
            board.still.append(then == (board.at, board.things))
        return QUESTIONS[name](board, course, **values)

    return Meaning(find, rules=reader.chosen)


def _move(board: Board, direction: int, rules: dict[str, tuple[str, dict[str, Any]]]) -> None:
    """Make one move."""
    if board.lost:
        board.lost -= 1
        return
    step, board.before = STEPS[direction], board.at
    ahead = _next(board.at, step)
    if board.free(ahead):
        board.at = ahead
    else:
        name, values = rules[board.part(ahead)]
        AHEAD[name](board, direction, ahead, **values)
    if board.at in board.marks and board.at != board.before:
        name, values = rules["mark"]
        MARK[name](board, direction, **values)


def _lose(board: Board, moves: int) -> None:
    board.lost = moves


def _turned(direction: int, by: int) -> Cell:
    return STEPS[(direction + by) % 4]


def _wrap(board: Board, direction: int, ahead: Cell) -> None:
    board.go(((ahead[0] - 1) % board.rows + 1, (ahead[1] - 1) % board.columns + 1))


def _roll(board: Board, thing: Cell, direction: int, most: int) -> bool:
    """Roll a thing on, and return whether it has left its cell."""
    end = board.run(thing, STEPS[direction], most)
    board.things.remove(thing)
    board.things.add(end)
    return end != thing


def _slide_thing(board: Board, direction: int, ahead: Cell) -> None:
    if _roll(board, ahead, direction, MOST_CELLS):
        board.at = ahead


def _remove(board: Board, direction: int, ahead: Cell) -> None:
    board.things.remove(ahead)
    board.at = ahead


def _swap(board: Board, direction: int, ahead: Cell) -> None:
    board.things.remove(ahead)
    board.things.add(board.at)
    board.at = ahead


def _push(board: Board, direction: int, ahead: Cell, longest: int = 1) -> None:
    beyond = ahead
    while beyond in board.things and longest:
        beyond, longest = _next(beyond, STEPS[direction]), longest - 1
    if board.free(beyond):
        board.things.remove(ahead)
        board.things.add(beyond)
        board.at = ahead


def _next_mark(board: Board, direction: int) -> None:
    places = sorted(board.marks)
    board.go(places[(places.index(board.at) + 1) % len(places)])


def _slide(board: Board, direction: int) -> None:
    while board.at in board.marks and board.free(_next(board.at, STEPS[direction])):
        board.at = _next(board.at, STEPS[direction])


AHEAD: dict[str, Callable[..., Any]] = {
    "stay": lambda board, way, ahead: None,
    "turn_left": lambda board, way, ahead: board.go(_next(board.at, _turned(way, -1))),
    "turn_right": lambda board, way, ahead: board.go(_next(board.at, _turned(way, 1))),
    "back": lambda board, way, ahead: board.go(_next(board.at, STEPS[way], -1)),
    "leap": lambda board, way, ahead: board.go(_next(ahead, STEPS[way])),
    "home": lambda board, way, ahead: board.go(board.home),
    "lost_one": lambda board, way, ahead: _lose(board, 1),
    "lost": lambda board, way, ahead, k: _lose(board, k),
    "mirror": lambda board, way, ahead: board.go(
        (board.rows + 1 - board.at[0], board.columns + 1 - board.at[1])
    ),
    "wrap": _wrap,
    "slide_thing": _slide_thing,
    "remove": _remove,
    "swap": _swap,
    "kick": lambda board, way, ahead, k: _roll(board, ahead, way, k),
    "push": _push,
    "push_all": lambda board, way, ahead: _push(board, way, ahead, MOST_CELLS),
}
MARK: dict[str, Callable[..., Any]] = {
    "next": _next_mark,
    "return": lambda board, way: board.go(board.before),
    "home": lambda board, way: board.go(board.home),
    "slide": _slide,
    "carried_one": lambda board, way: board.go(board.run(board.at, STEPS[way], 1)),
    "carried": lambda board, way, k: board.go(board.run(board.at, STEPS[way], k)),
    "turn_right": lambda board, way: board.go(_next(board.at, _turned(way, 1))),
    "turn_left": lambda board, way: board.go(_next(board.at, _turned(way, -1))),
    "lost_one": lambda board, way: _lose(board, 1),
    "lost": lambda board, way, k: _lose(board, k),
}


def _after(course: list[Cell], holds: Callable[[Cell], bool]) -> list[int]:
    """Return the numbers of the moves after which `holds` is true of the cell."""
    return [number for number, cell in enumerate(course[1:], 1) if holds(cell)]


def _letters(board: Board, course: list[Cell]) -> str:
    changes = ((one[0] != other[0], one[1] != other[1]) for one, other in pairwise(course))
    letters = {(True, True): "R", (True, False): "R", (False, True): "C", (False, False): "E"}
    return "".join(letters[change] for change in changes)


QUESTIONS: dict[str, Callable[..., Any]] = {
    "beside_wall": lambda board, course: _after(
        course, lambda cell: any(_next(cell, step) in board.walls for step in STEPS)
    ),
    "still": lambda board, course: [number for number, still in enumerate(board.still, 1) if still],
    "in_column": lambda board, course, k: _after(course, lambda cell: cell[1] == k),
    "in_row": lambda board, course, k: _after(course, lambda cell: cell[0] == k),
    "letters": _letters,
    "columns": lambda board, course: [cell[1] for cell in course[1:]],
    "rows": lambda board, course: [cell[0] for cell in course[1:]],
}
