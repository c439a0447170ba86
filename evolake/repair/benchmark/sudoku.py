"""Sudoku 4x4 as a linear problem of the study's form, and a solver of the grid itself that shares nothing
with that form.

"All different" over integer cells is no conjunction of linear constraints (2, 2, 3, 3 is between permutations
of 1..4), so cells are shown by 0/1 variables: `r1c2_3` is 1 where row 1, column 2 holds 3. Only what is open
has variables: empty cells, and values that no given in the same row, column or box excludes. Equations say
that a cell holds exactly one value, and that a row, column or box holds each missing value exactly once. The
problem has a solution exactly where the grid has a completion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from evolake.repair.model.problems import Constraint, Problem, Variable

SIZE, BOX = 4, 2
VALUES = (1, 2, 3, 4)
EMPTY = 0
Cell = tuple[int, int]
Grid = tuple[tuple[int, ...], ...]
"""Four rows of four numbers, 0 for an empty cell."""

UNITS: dict[str, list[Cell]] = {
    **{f"row{row + 1}": [(row, column) for column in range(SIZE)] for row in range(SIZE)},
    **{f"column{column + 1}": [(row, column) for row in range(SIZE)] for column in range(SIZE)},
    **{
        f"box{BOX * top + left + 1}": [
            (BOX * top + row, BOX * left + column) for row in range(BOX) for column in range(BOX)
        ]
        for top in range(SIZE // BOX)
        for left in range(SIZE // BOX)
    },
}
CELLS: list[Cell] = [(row, column) for row in range(SIZE) for column in range(SIZE)]
PEERS: dict[Cell, list[Cell]] = {
    cell: sorted({other for unit in UNITS.values() if cell in unit for other in unit} - {cell})
    for cell in CELLS
}


def completions(grid: Grid) -> Iterator[Grid]:
    """Yield every completion of the grid, by backtracking over its cells."""
    if not has_clash(grid):
        yield from _complete(grid)


def candidates(grid: Grid) -> dict[Cell, list[int]]:
    """Return empty cell -> values that no given excludes."""
    return {
        cell: [value for value in VALUES if not _clash(grid, cell, value)]
        for cell in CELLS
        if grid[cell[0]][cell[1]] == EMPTY
    }


def encode(grid: Grid, name: str) -> Problem | None:
    """Return the grid as a problem; None where that would hold an empty sum: a cell without a value, or a
    value without a cell (a trivial contradiction).
    """
    open_cells = candidates(grid)
    sums = {
        f"cell_r{row + 1}c{column + 1}": [_name((row, column), value) for value in values]
        for (row, column), values in open_cells.items()
    }
    for unit, cells in UNITS.items():
        for value in VALUES:
            if value not in [grid[row][column] for row, column in cells]:
                sums[f"{unit}_{value}"] = [
                    _name(cell, value) for cell in cells if value in open_cells.get(cell, ())
                ]
    if not sums or not all(sums.values()):
        return None
    constraints = [
        Constraint(place, tuple((variable, 1) for variable in variables), "=", 1)
        for place, variables in sums.items()
    ]
    variables = [
        Variable(_name(cell, value), 0, 1) for cell, values in open_cells.items() for value in values
    ]
    return Problem(name, tuple(variables), tuple(constraints))


def decode(grid: Grid, assignment: Mapping[str, int]) -> Grid:
    """Return the grid that a solution of `encode(grid)` means."""
    chosen = {
        cell: [value for value in values if assignment[_name(cell, value)]]
        for cell, values in candidates(grid).items()
    }
    return tuple(
        tuple(grid[row][column] or chosen[row, column][0] for column in range(SIZE)) for row in range(SIZE)
    )


def drawn_grid(rng: np.random.Generator, empty: int) -> Grid:
    """Return a grid with a completion and `empty` empty cells: a random complete one, some of it taken
    away."""
    symbols = rng.permutation(VALUES).tolist()
    first: Grid = (
        (symbols[0], symbols[1], EMPTY, EMPTY),
        (symbols[2], symbols[3], EMPTY, EMPTY),
        (EMPTY,) * SIZE,
        (EMPTY,) * SIZE,
    )
    every = list(completions(first))
    return _without(every[int(rng.integers(len(every)))], rng.permutation(SIZE * SIZE)[:empty].tolist())


def spoilt(grid: Grid, rng: np.random.Generator) -> Grid:
    """Return one given replaced by another value. Whether the grid still has a completion is for the caller
    to ask."""
    givens = [cell for cell in CELLS if grid[cell[0]][cell[1]]]
    row, column = givens[int(rng.integers(len(givens)))]
    others = [value for value in VALUES if value != grid[row][column]]
    return _with(grid, (row, column), others[int(rng.integers(len(others)))])


def has_clash(grid: Grid) -> bool:
    """Return whether two givens exclude each other at sight."""
    return any(_clash(grid, cell, grid[cell[0]][cell[1]]) for cell in CELLS if grid[cell[0]][cell[1]])


def _complete(grid: Grid) -> Iterator[Grid]:
    empty = next((cell for cell in CELLS if grid[cell[0]][cell[1]] == EMPTY), None)
    if empty is None:
        yield grid
        return
    for value in VALUES:
        if not _clash(grid, empty, value):
            yield from _complete(_with(grid, empty, value))


def _clash(grid: Grid, cell: Cell, value: int) -> bool:
    """Return whether another cell of one of the cell's units holds the value."""
    return any(grid[row][column] == value for row, column in PEERS[cell])


def _with(grid: Grid, cell: Cell, value: int) -> Grid:
    return tuple(
        tuple(value if (row, column) == cell else held for column, held in enumerate(line))
        for row, line in enumerate(grid)
    )


def _without(grid: Grid, places: list[int]) -> Grid:
    return tuple(
        tuple(EMPTY if SIZE * row + column in places else held for column, held in enumerate(line))
        for row, line in enumerate(grid)
    )


def _name(cell: Cell, value: int) -> str:
    return f"r{cell[0] + 1}c{cell[1] + 1}_{value}"
