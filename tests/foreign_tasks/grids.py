"""Tasks on grids: game of life, spiral matrix, rotten oranges."""

# A paragraph of a statement is one line, however long.
# ruff: noqa: E501

from foreign_tasks.writing import task

LIFE = task(
    "game-of-life",
    "spatial",
    "list",
    generator="""
import random


def input(difficulty):
    size = 3 + difficulty // 2
    board = [[random.choice([0, 0, 1]) for _ in range(size)] for _ in range(size)]
    steps = 1 + difficulty // 3
    return {"board": board, "steps": steps}, [str(steps), str(board)]
""",
    template="""
What will this Game of Life board look like after [Input Slot 1] steps of simulation? Assume a Moore neighborhood and wrapping topology: each cell has eight neighbors, and cells beyond an edge are those at the opposite edge.

A living cell with two or three living neighbors stays alive. A dead cell with exactly three living neighbors becomes alive. All other cells are dead in the next step. All cells change at the same time.

Here 1 is a living cell and 0 is a dead one:

[Input Slot 2]

<!-- question -->
What is the board after these steps? Reply with a list of rows.
""",
    reader="""
import json
import re


def read(text):
    return {"board": json.loads(re.search(r"\\[\\[.*\\]\\]", text).group(0)), "steps": int(re.search(r"after (\\d+) steps", text).group(1))}
""",
    validators=(
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "board" not in inputs:
        return {"status": "schema_error", "detail": "board"}
    board = inputs["board"]
    for _ in range(inputs["steps"]):
        size = len(board)
        board = [[alive(board, row, column, size) for column in range(size)] for row in range(size)]
    return board


def alive(board, row, column, size):
    near = sum(board[(row + down) % size][(column + right) % size] for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right)
    return 1 if near == 3 or (near == 2 and board[row][column]) else 0
""",
        """
from collections import Counter


def solution(inputs):
    if not isinstance(inputs, dict) or "board" not in inputs:
        return {"status": "schema_error", "detail": "board"}
    size = len(inputs["board"])
    living = {(row, column) for row in range(size) for column in range(size) if inputs["board"][row][column]}
    for _ in range(inputs["steps"]):
        counts = Counter()
        for row, column in living:
            for down in range(-1, 2):
                for right in range(-1, 2):
                    if (down, right) != (0, 0):
                        counts[(row + down) % size, (column + right) % size] += 1
        living = {cell for cell, number in counts.items() if number == 3 or (number == 2 and cell in living)}
    return [[int((row, column) in living) for column in range(size)] for row in range(size)]
""",
        """
import numpy as np


def solution(inputs):
    if not isinstance(inputs, dict) or "board" not in inputs:
        return {"status": "schema_error", "detail": "board"}
    board = np.array(inputs["board"])
    for _ in range(inputs["steps"]):
        total = sum(np.roll(np.roll(board, down, 0), right, 1) for down in (-1, 0, 1) for right in (-1, 0, 1))
        board = ((total == 3) | ((total == 4) & (board == 1))).astype(int)
    return board.tolist()
""",
    ),
)
SPIRAL = task(
    "spiral-matrix",
    "spatial",
    "list",
    generator="""
import random


def input(difficulty):
    size = 2 + difficulty
    matrix = [[random.randint(0, 9) for _ in range(size)] for _ in range(size)]
    return {"matrix": matrix}, [str(matrix)]
""",
    template="""
Given a matrix, your job is to generate a list of its elements in spiral order, starting from the top-left element.

The spiral order is clockwise. More precisely:
- Start from the top-left corner and move right.
- Move down towards the bottom-right corner.
- Move left towards the bottom-left corner.
- Move up towards the top-right corner.
- Repeat the steps for the inner elements of the matrix until every entry is visited.

For the matrix below, what is the list of elements in spiral order?
[Input Slot 1]

<!-- question -->
Reply with the list of all elements. Which list is it?
""",
    reader="""
import json
import re


def read(text):
    return {"matrix": json.loads(re.search(r"\\[\\[.*\\]\\]", text).group(0))}
""",
    validators=(
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "matrix" not in inputs:
        return {"status": "schema_error", "detail": "matrix"}
    rest, result = [list(row) for row in inputs["matrix"]], []
    while rest:
        result += rest.pop(0)
        rest = [list(column) for column in zip(*rest)][::-1]
    return result
""",
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "matrix" not in inputs:
        return {"status": "schema_error", "detail": "matrix"}
    matrix = inputs["matrix"]
    size = len(matrix)
    seen, result, row, column, turn = set(), [], 0, 0, 0
    for _ in range(size * size):
        result.append(matrix[row][column])
        seen.add((row, column))
        for _ in range(2):
            down, right = ((0, 1), (1, 0), (0, -1), (-1, 0))[turn]
            if 0 <= row + down < size and 0 <= column + right < size and (row + down, column + right) not in seen:
                break
            turn = (turn + 1) % 4
        row, column = row + down, column + right
    return result
""",
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "matrix" not in inputs:
        return {"status": "schema_error", "detail": "matrix"}
    matrix = inputs["matrix"]
    low, high, result = 0, len(matrix) - 1, []
    while low <= high:
        result += [matrix[low][column] for column in range(low, high + 1)]
        result += [matrix[row][high] for row in range(low + 1, high + 1)]
        if low < high:
            result += [matrix[high][column] for column in range(high - 1, low - 1, -1)]
            result += [matrix[row][low] for row in range(high - 1, low, -1)]
        low, high = low + 1, high - 1
    return result
""",
    ),
)
ORANGES = task(
    "rotten-oranges",
    "spatial",
    "integer",
    generator="""
import random


def input(difficulty):
    size = 3 + difficulty
    grid = [[random.choice([0, 1, 1, 1]) for _ in range(size)] for _ in range(size)]
    grid[random.randrange(size)][random.randrange(size)] = 2
    return {"grid": grid}, [str(grid)]
""",
    template="""
You are given an n x n grid where each cell can have one of three values:
- 0 representing an empty cell
- 1 representing a fresh orange
- 2 representing a rotten orange

Every minute, any fresh orange that is 4-directionally adjacent to a rotten orange becomes rotten. An orange that no rot can reach stays as it is.

The grid is:
[Input Slot 1]

<!-- question -->
After how many minutes has the last orange become rotten that can become rotten at all?
""",
    reader="""
import json
import re


def read(text):
    return {"grid": json.loads(re.search(r"\\[\\[.*\\]\\]", text).group(0))}
""",
    validators=(
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "grid" not in inputs:
        return {"status": "schema_error", "detail": "grid"}
    grid = inputs["grid"]
    size = len(grid)
    edge = [(row, column) for row in range(size) for column in range(size) if grid[row][column] == 2]
    rotten, minutes = set(edge), 0
    while True:
        edge = {
            (row + down, column + right) for row, column in edge for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0))
            if 0 <= row + down < size and 0 <= column + right < size and grid[row + down][column + right] == 1
        } - rotten
        if not edge:
            return minutes
        rotten |= edge
        minutes += 1
""",
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "grid" not in inputs:
        return {"status": "schema_error", "detail": "grid"}
    now, minutes = [list(row) for row in inputs["grid"]], 0
    while True:
        later = [list(row) for row in now]
        for row, line in enumerate(now):
            for column, cell in enumerate(line):
                near = [now[row - 1][column]] if row else []
                near += [now[row + 1][column]] if row + 1 < len(now) else []
                near += [line[column - 1]] if column else []
                near += [line[column + 1]] if column + 1 < len(line) else []
                if cell == 1 and 2 in near:
                    later[row][column] = 2
        if later == now:
            return minutes
        now, minutes = later, minutes + 1
""",
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "grid" not in inputs:
        return {"status": "schema_error", "detail": "grid"}
    cells = {(row, column): cell for row, line in enumerate(inputs["grid"]) for column, cell in enumerate(line) if cell}
    far = len(cells) + 1
    when = {place: 0 if cell == 2 else far for place, cell in cells.items()}
    for _ in cells:
        for row, column in when:
            for other in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
                if other in when:
                    when[row, column] = min(when[row, column], when[other] + 1)
    return max(minutes for minutes in when.values() if minutes < far)
""",
    ),
)
