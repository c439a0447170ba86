"""Questions on what came of a queue, with the answer of each engine.

`run` folds `calls` (a mapping for each call, in the order of the calls), `gone` (numbers of those who went
away) and `line` (how many are in it at the end of each minute, from minute 0 on). `table` folds arrays by
person: `start`, `until` (0 for who is not served), `rank` (of the call), and `waiting(m)`, who is in line at
the end of minute m. `clauses` asks through `is_`, which says by the model whether person i (from 0) begins,
waits or is served in minute t.
"""

from __future__ import annotations

from dataclasses import dataclass

from evolake.families.worlds.entries import entries
from evolake.families.worlds.parts import Question


@dataclass(frozen=True)
class QueueQuestion(Question):
    """text: with {s1} for the slot of `key`. make: sets `ask`, in the generator, from what `run` folds. low,
    high: of the port of `key`, see Port. cards: whether it asks for the card.
    """

    key: str = ""
    make: str = "{}"
    low: int = 1
    high: int | tuple[str, ...] = 0
    cards: bool = False


QUESTIONS = entries("queue_questions", QueueQuestion, "questions", indented=("run", "table", "clauses"))[
    "questions"
]
