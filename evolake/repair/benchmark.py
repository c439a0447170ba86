"""Make the benchmark of a study, as rows of the table `problems`: the main problems, perturbations of some of
them, and the transfer suite. Sizes and a root seed give the same rows; a larger benchmark begins with the
problems of a smaller one.

Transfer is Sudoku 4x4 under the same candidate contract, certifier, arms and budget. Descriptive only: no
test, and no claim rests on it. "All different" over integer cells is no conjunction of linear constraints (2,
2, 3, 3 is between permutations of 1..4), so cells are shown by 0/1 variables: `r1c2_3` is 1 if row 1, column
2 holds 3. Only what is open has variables: empty cells, and values that no given in the same row, column or
box excludes. Equations say that a cell holds exactly one value, and that a row, column or box holds each
missing value exactly once. The problem has a solution exactly if the grid has a completion; a solver of the
grid itself shares nothing with that form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import numpy as np

from evolake.compute.needs import trusted
from evolake.errors import MachineryError
from evolake.repair.certifier import CERTIFIED, REFUTED, Certifier
from evolake.repair.generator import Labelled, generate, perturbed_rows, planned_labels
from evolake.repair.labels import LABEL_TIMEOUT_MS, Label
from evolake.repair.problems import UNSAT, Constraint, Problem, Variable
from evolake.repair.settings import RepairSettings
from evolake.seeds import child_seed

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


SUITE = "sudoku4"
CERTIFIERS = ("z3", "grid_backtracking")
FEWEST_EMPTY, MOST_EMPTY = 6, 9
MAX_DRAWS = 2000


def transfer_rows(count: int, root_seed: int, *, timeout_ms: int) -> Iterator[dict[str, Any]]:
    """Yield rows of PROBLEMS: `count` grids in the shares of the main benchmark, each labelled by Z3 on the
    encoding and by backtracking on the grid.

    Raises:
        MachineryError: the two certifiers disagree, or no draw gave a grid of the planned label.
    """
    certifier = Certifier(timeout_ms)
    for index, label in enumerate(planned_labels(count, root_seed)):
        yield one_grid(index, label, root_seed, certifier).row(suite=SUITE)


def one_grid(index: int, label: str, root_seed: int, certifier: Certifier) -> Labelled:
    """Return grid `index` of a seed: the first draw of the planned label in which no contradiction is seen at
    a glance."""
    seed = child_seed(root_seed, "repair", "problems", f"{SUITE}:{label}", index)
    rng = np.random.Generator(np.random.PCG64(seed))
    for _ in range(MAX_DRAWS):
        grid = drawn_grid(rng, int(rng.integers(FEWEST_EMPTY, MOST_EMPTY + 1)))
        if label == "unsat":
            grid = spoilt(grid, rng)
        if (
            has_clash(grid)
            or (problem := encode(grid, f"sud-{index:04d}")) is None
            or has_completion(grid) != (label == "sat")
        ):
            continue
        return Labelled(replace(problem, label=label, seed=seed), certified(problem, grid, certifier))
    raise MachineryError(
        f"no {label} grid in {MAX_DRAWS} draws",
        wanted="a grid both certifiers agree on",
        do="report the seed and the index",
    )


def has_completion(grid: Grid) -> bool:
    """Return whether the grid can be completed, found on the grid itself."""
    return next(completions(grid), None) is not None


def certified(problem: Problem, grid: Grid, certifier: Certifier) -> Label:
    """Return the label of an encoded grid. Raises MachineryError where Z3 does not decide it, or decides
    otherwise than backtracking on the grid."""
    by_grid = "sat" if has_completion(grid) else "unsat"
    answer = certifier.certify(problem, UNSAT)
    by_solver = {CERTIFIED: "unsat", REFUTED: "sat"}.get(answer.verdict, answer.verdict)
    if by_solver != by_grid:
        raise MachineryError(
            f"two certifiers disagree about the grid {problem.id}",
            wanted="one label",
            got=f"z3: {by_solver}; backtracking: {by_grid}",
            do="keep the grid and report it",
        )
    return Label(by_grid, CERTIFIERS, answer.core)


CHUNK = 50

Rows = list[dict[str, Any]]


def benchmark_rows(sizes: RepairSettings, root_seed: int, *, executor: Executor | None = None) -> Rows:
    """Return rows of the table `problems`: main, perturbed (the first `sizes.perturbed` main problems, three
    times each), transfer.

    Raises:
        MachineryError: two certifiers disagree about a label, or a perturbed problem has another label than
            its origin.
    """
    run = _here if executor is None else _submitted(executor)
    main_parts = [
        run(_main, start, min(start + CHUNK, sizes.problems), root_seed)
        for start in range(0, sizes.problems, CHUNK)
    ]
    transfer = run(_transfer, sizes.transfer, root_seed)
    main = [row for part in main_parts for row in part()]
    chosen = main[: sizes.perturbed]
    perturbed_parts = [
        run(_perturbed, chosen[start : start + CHUNK], root_seed) for start in range(0, len(chosen), CHUNK)
    ]
    return [*main, *(row for part in perturbed_parts for row in part()), *transfer()]


@trusted
def _main(start: int, end: int, root_seed: int) -> Rows:
    return [item.row() for item in generate(end, root_seed, start=start)]


@trusted
def _perturbed(rows: Rows, root_seed: int) -> Rows:
    return list(perturbed_rows(rows, root_seed, timeout_ms=LABEL_TIMEOUT_MS))


@trusted
def _transfer(count: int, root_seed: int) -> Rows:
    return list(transfer_rows(count, root_seed, timeout_ms=LABEL_TIMEOUT_MS))


def _here(work: Callable[..., Rows], *arguments: Any) -> Callable[[], Rows]:
    return lambda: work(*arguments)


def _submitted(executor: Executor) -> Callable[..., Callable[[], Rows]]:
    def submit(work: Callable[..., Rows], *arguments: Any) -> Callable[[], Rows]:
        return executor.submit(work, *arguments).result

    return submit
