"""Questions on what came of the moves on a board, with the answer of each engine.

`run` folds `trace`: (cell of the mover, cells of things) before the first move and after each; cells are
(row, column) from 1 on, `ground` is cell -> letter. `table` folds `at` (numbers of cells, row * width +
column) and `box` (boards), with `b` what never changes. `clauses` asks through `is_(kind, t, cell)`, which
says by the model whether the mover is `at` a cell, or a `thing` is there, after move t, or through `solver`
and `L`.
"""

from __future__ import annotations

from dataclasses import dataclass

from evolake.families.worlds.entries import entries
from evolake.families.worlds.parts import Question


@dataclass(frozen=True)
class BoardQuestion(Question):
    """text: with {s1} and so on for the slots of `keys`. make: sets `ask`, in the generator, from what `run`
    folds. port: the key that is one. low, high: of the port, see Port. open_start: whether the mover's first
    cell is left open.
    """

    keys: tuple[str, ...] = ()
    make: str = "    ask = {}\n"
    port: str = ""
    low: int = 1
    high: int | tuple[str, ...] = 1
    open_start: bool = False


QUESTIONS = entries(
    "board_questions", BoardQuestion, "questions", indented=("run", "table", "clauses", "make")
)["questions"]
