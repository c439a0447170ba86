"""Questions on all the arrangements that fit a world's constraints, with the answer of each engine.

`make` draws what is asked, in the generator, from `open_`, the views that fit; it sets `ask` and `texts`, or
leaves `ask` None. `search` folds `found`, mappings of things to values; `sat` asks a solver, through
`models(clauses)` and `possible(clauses, literals)`; `listing` folds `views`.
"""

from __future__ import annotations

from dataclasses import dataclass

from evolake.families.model.contract import Alternative, AnswerType, MutationPoint
from evolake.families.worlds.entries import entries


@dataclass(frozen=True)
class Question:
    """structures: where it may be asked. text: with {s1}, {s2} for its slots. keys: of `ask`, one per slot.

    least, most: how many arrangements an instance leaves. point: the rule that the text holds.
    """

    name: str
    title: str
    structures: tuple[str, ...]
    text: str
    make: str
    search: str
    sat: str
    listing: str
    keys: tuple[str, ...] = ()
    answer: AnswerType = "integer"
    least: int = 3
    most: int = 60
    point: str | None = None


QUESTIONS = entries("questions", Question, "questions", indented=("make", "search", "sat", "listing"))[
    "questions"
]


def points_of(question: Question, ways: str) -> tuple[MutationPoint, ...]:
    """Return the rule slot of a question: which end, or certain against possible. ways: what the arrangements
    are called, singular."""
    if question.point == "extreme":
        ends = tuple(Alternative(name, name, f'"{name}"') for name in ("smallest", "largest"))
        return (MutationPoint("extreme", ends, "smallest"),)
    if question.point == "force":
        texts = {
            "must": f"hold in every {ways} that fits the rules and what is known",
            "can": f"hold in at least one {ways} that fits the rules and what is known",
        }
        return (
            MutationPoint(
                "force", tuple(Alternative(name, text, f'"{name}"') for name, text in texts.items()), "must"
            ),
        )
    return ()
