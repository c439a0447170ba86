"""Questions on the run of a process world, with the answer of each engine.

`run` and `table` fold `trace`, the states from the start on, by variable; a simulation has mappings, the
table has columns. `clauses` asks through `is_`, which looks up in the model whether a variable has a value
after a turn, or through `solver`.
"""

from __future__ import annotations

from dataclasses import dataclass

from evolake.families.model.contract import AnswerType
from evolake.families.worlds.entries import entries


@dataclass(frozen=True)
class RunQuestion:
    """uses: variables, `s` being a drawn store. text: with {s}, {s1} for its slot. make: sets `ask` and
    `texts` in the generator, from `trace`."""

    name: str
    title: str
    uses: str
    text: str
    run: str
    table: str
    clauses: str
    make: str = "    ask, texts = {}, []\n"
    keys: tuple[str, ...] = ()
    answer: AnswerType = "integer"
    open_start: bool = False


RUNS = entries("runs", RunQuestion, "runs", indented=("run", "table", "clauses", "make"))["runs"]
