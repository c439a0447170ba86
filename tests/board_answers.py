"""Answers to questions on a board by a program that shares nothing with its engines: cells are complex
numbers (east is 1, south is 1j), and a state is (who moves, things, moves that are still lost).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

WAYS = (-1j, 1, 1j, -1)


class State(NamedTuple):
    """at: the mover's cell."""

    at: complex
    things: frozenset[complex]
    lost: int = 0


class Board(NamedTuple):
    """ground: cell -> "#" for a wall, "x" for a mark, "." for all else. key: point -> name of its rule. k:
    point -> its amount, 0 for none."""

    ground: Mapping[complex, str]
    home: complex
    key: Mapping[str, str]
    k: Mapping[str, int]

    def free(self, cell: complex, now: State) -> bool:
        return self.ground.get(cell) in {".", "x"} and cell not in {now.at, *now.things}

    def path(self, cell: complex, way: complex, now: State, most: int = 99) -> list[complex]:
        """The free cells that follow the cell, before the first that is not free."""
        result: list[complex] = []
        while len(result) < most and self.free(cell + way * (len(result) + 1), now):
            result.append(cell + way * (len(result) + 1))
        return result

    def goes(self, cell: complex, now: State) -> State:
        return now._replace(at=cell) if self.free(cell, now) else now

    def after(self, now: State, j: int) -> State:
        """The state after one move."""
        if now.lost:
            return now._replace(lost=now.lost - 1)
        way, ahead = WAYS[j], now.at + WAYS[j]
        if ahead not in self.ground:
            then = self.blocked("edge", now, way)
        elif self.ground[ahead] == "#":
            then = self.blocked("wall", now, way)
        else:
            then = self.meets(now, ahead, way) if ahead in now.things else now._replace(at=ahead)
        return self.marked(now, then, way)

    def blocked(self, point: str, now: State, way: complex) -> State:
        name = self.key[point].removeprefix(f"{point}_")
        if name == "skip":
            return now._replace(lost=self.k[point])
        last = max(self.ground, key=lambda cell: cell.real + cell.imag)
        goal = {
            "stay": now.at,
            "back": now.at - way,
            "right": now.at + way * 1j,
            "left": now.at - way * 1j,
            "over": now.at + 2 * way,
            "home": self.home,
            "opposite": last + (1 + 1j) - now.at,
            "across": [cell for cell in (now.at - n * way for n in range(10)) if cell in self.ground][-1],
        }[name]
        return self.goes(goal, now)

    def meets(self, now: State, ahead: complex, way: complex) -> State:
        name, others = self.key["push"].removeprefix("push_"), now.things - {ahead}
        if name == "row":
            line = [ahead]
            while line[-1] + way in now.things:
                line.append(line[-1] + way)
            pushed = frozenset(cell + way for cell in line) | (now.things - set(line))
            return State(ahead, pushed) if self.free(line[-1] + way, now) else now
        rolls = self.path(ahead, way, now, {"one": 1, "kick": self.k["push"]}.get(name, 99))
        if name in ("one", "slide", "kick"):
            return State(now.at if name == "kick" else ahead, others | {rolls[-1]}) if rolls else now
        if name in ("swap", "take"):
            return State(ahead, others | ({now.at} if name == "swap" else set()))
        return self.goes(ahead + way, now) if name == "jump" else now

    def marked(self, before: State, now: State, way: complex) -> State:
        name = self.key["mark"].removeprefix("mark_")
        if name == "pit":
            return now._replace(things=frozenset(cell for cell in now.things if self.ground[cell] == "."))
        if now.at == before.at or self.ground[now.at] != "x":
            return now
        if name == "mud":
            return now._replace(lost=self.k["mark"])
        if name in ("ice", "spring"):
            stops = [now.at, *self.path(now.at, way, now, self.k["mark"] or 99)]
            plain = [place for place, cell in enumerate(stops) if self.ground[cell] == "."]
            return now._replace(at=stops[plain[0]] if name == "ice" and plain else stops[-1])
        marks = sorted((cell.imag, cell.real) for cell, letter in self.ground.items() if letter == "x")
        later = [mark for mark in marks if mark > (now.at.imag, now.at.real)]
        goal = {
            "lift": complex(*(later or marks)[0][::-1]),
            "right": now.at + way * 1j,
            "home": self.home,
            "undo": before.at,
        }[name]
        return self.goes(goal, now)


def courses(
    inputs: Mapping[str, Any], rules: Mapping[str, str], start: complex | None = None
) -> tuple[Board, list[State]]:
    """The board, and its state before the first move and after each. start: of who moves, where it is
    another."""
    letters = {
        complex(c, r): letter for r, row in enumerate(inputs["board"], 1) for c, letter in enumerate(row, 1)
    }
    (at,) = (cell for cell, letter in letters.items() if letter == "@")
    ground = {cell: letter if letter in "#x" else "." for cell, letter in letters.items()}
    names = {point: key.rstrip("_0123456789") for point, key in rules.items()}
    amounts = {point: int(key[len(names[point]) + 1 :] or 0) for point, key in rules.items()}
    board = Board(ground, at if start is None else start, names, amounts)
    states = [State(board.home, frozenset(cell for cell, letter in letters.items() if letter == "o"))]
    for j in inputs["moves"]:
        states.append(board.after(states[-1], j))
    return board, states


def way_letter(step: complex) -> str:
    """Return R for a move along rows, C along columns, E for none."""
    if step.imag:
        return "R"
    return "C" if step.real else "E"


def of_board(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str) -> Any:
    """The answer. asked: the question as the title says it."""
    board, states = courses(inputs, rules)
    ask, end, numbered = inputs["ask"], states[-1], list(enumerate(states))[1:]
    marks = {cell for cell, letter in board.ground.items() if letter == "x"}
    rows = sorted(int(cell.imag) for cell in end.things)
    begins = [
        cell
        for cell, letter in sorted(board.ground.items(), key=lambda item: item[0].real)
        if letter == "." and cell not in states[0].things and cell.imag == ask.get("row")
    ]
    steps = [item.at - states[n - 1].at for n, item in numbered]
    return {
        "in which columns it goes": lambda: [int(item.at.real) for _, item in numbered],
        "which moves change nothing": lambda: [n for n, item in numbered if item[:2] == states[n - 1][:2]],
        "which moves move things": lambda: [n for n, item in numbered if item.things != states[n - 1].things],
        "how many things are on marked cells": lambda: [len(item.things & marks) for _, item in numbered],
        "when it is in a certain column": lambda: [
            n for n, item in numbered if item.at.real == ask["column"]
        ],
        "when it is beside walls": lambda: [
            n for n, item in numbered if "#" in {board.ground.get(item.at + way) for way in WAYS}
        ],
        "a word for its course": lambda: "".join(way_letter(step) for step in steps),
        "in which rows things end": lambda: {str(row): rows.count(row) for row in rows},
        "to which rows the beginnings lead": lambda: [
            int(courses(inputs, rules, cell)[1][-1].at.imag) for cell in begins
        ],
    }[asked]()
