"""Who solved a family from its text alone: only its own programs, another author, a model, or a person.

A misreading that one author shares with text, reader and all programs is seen by no vote. A reader who solves
instances from the text alone, without the programs, sees it. So this is its own fact, with its counts:

    none      one author wrote text and programs, and reviews used the same reader and programs
    author    a validator that votes came from a call which saw the statement and never the primary
    text      the text solver, whose author saw no program of a family, read its text and found all labels
              (`evolake.families.text_solver`)
    model     a model answered instances from their text (gate `blind`, or `evolake families check --readers
              model`)
    person    a person answered a sheet (`evolake families review-sheet`)

What counts is evidence of one content: rows carry the family's id, which is the hash of its content, so that
an edit starts without any.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evolake.families.model.contract import as_json
from evolake.families.tables import INDEPENDENT_ANSWERS, REVIEWS, VALIDATOR_AUTHORS, VALIDATOR_VOTES
from evolake.lake.locks import hold

if TYPE_CHECKING:
    from evolake.families.gates.blind import Review
    from evolake.lake import Lake
    from evolake.lake.schemas import TableSchema

LINE = "families"
NONE, AUTHOR, TEXT, MODEL, PERSON = LEVELS = ("none", "author", "text", "model", "person")
REVIEWED = frozenset((TEXT, MODEL, PERSON))
"""Levels at which somebody has answered a family's questions who had its text only. An accepted family from
outside, a user's or a model's, that has none of them is `unreviewed`."""
LEAST_ANSWERS = 5
"""Answers of the text solver, a model, or people, that say something."""
LEAST_RIGHT = 0.8
"""Share of them that must be the label; also the share of the sample on which another author's validator
votes for the label."""
WAIT_S = 30.0
"""Seconds to wait for another command that adds answers."""
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Independence:
    """level: the highest that holds. authors: validators by other authors. text, model, person: (right,
    answered) from the text alone."""

    level: str
    authors: int
    text: tuple[int, int]
    model: tuple[int, int]
    person: tuple[int, int]

    def to_json(self) -> dict[str, Any]:
        """Return the fact with its counts as plain JSON."""
        return {
            "level": self.level,
            "other_authors": self.authors,
            "text_right": self.text[0],
            "text_answers": self.text[1],
            "model_right": self.model[0],
            "model_answers": self.model[1],
            "person_right": self.person[0],
            "person_answers": self.person[1],
        }

    def in_words(self) -> str:
        """Return the fact with its counts in one line."""
        counts = [f"{self.authors} validators by other authors"] if self.authors else []
        counts += [
            f"{who}: {right} of {answered} right"
            for who, (right, answered) in ((TEXT, self.text), (MODEL, self.model), (PERSON, self.person))
            if answered
        ]
        if self.level == NONE and not counts:
            counts = [
                "only its own programs solved it from the text, which share their author's reading of it"
            ]
        return f"independent: {self.level} ({'; '.join(counts)})"


def independence_of(
    authors: Iterable[Row], votes: Iterable[Row], reviews: Iterable[Row], answers: Iterable[Row]
) -> Independence:
    """Return the independence of one family.

    Args:
        authors: rows of VALIDATOR_AUTHORS. votes: of VALIDATOR_VOTES. reviews: of REVIEWS. answers: of
            INDEPENDENT_ANSWERS.
    """
    voted: dict[str, list[bool]] = {}
    for row in votes:
        voted.setdefault(row["voter"], []).append(row["for_label"])
    written = {row["voter"] for row in authors if row["independent"]}
    count = sum(_enough(sum(voted.get(voter, [])), len(voted.get(voter, []))) for voter in written)
    seen = list(reviews)
    by_text = [row["matched"] for row in seen if row["reviewer"] == TEXT]
    by_model = [row["matched"] for row in seen if row["reviewer"] == MODEL]
    outside = list(answers)
    by_text = by_text or [row["matched"] for row in outside if row["reader"] == TEXT]
    by_model += [row["matched"] for row in outside if row["reader"] == MODEL]
    by_person = [row["matched"] for row in outside if row["reader"] == PERSON]
    text, model, person = ((sum(found), len(found)) for found in (by_text, by_model, by_person))
    if _enough(*person):
        level = PERSON
    elif _enough(*model):
        level = MODEL
    elif len(by_text) >= LEAST_ANSWERS and all(by_text):
        level = TEXT
    elif count:
        level = AUTHOR
    else:
        level = NONE
    return Independence(level, count, text, model, person)


def _enough(right: int, answered: int) -> bool:
    return answered >= LEAST_ANSWERS and right >= LEAST_RIGHT * answered


def rows_kept(
    lake: Lake, table: TableSchema, family_ids: Iterable[str] | None = None
) -> list[dict[str, Any]]:
    """Return the rows of a table that commands add to between cycles, of these families or of all."""
    if lake.record(LINE, table.name, None) is None:
        return []
    rows = lake.read(LINE, table.name, None).to_dicts()
    wanted = None if family_ids is None else set(family_ids)
    return [row for row in rows if wanted is None or row["family_id"] in wanted]


def keep_rows(lake: Lake, table: TableSchema, rows: Iterable[Row]) -> None:
    """Add rows to such a table; one with the key of an earlier row replaces it."""
    new = list(rows)
    place = lake.root / "cache" / f"{table.name}.lock"
    with hold(place, what=f"the table {table.name}", run_id="readers", timeout_s=WAIT_S):
        held = {tuple(row[key] for key in table.keys): row for row in [*rows_kept(lake, table), *new]}
        frame = table.frame(held.values())
        lake.publish(LINE, table.name, frame, cycle=None, run_id="readers", schema=table)


def answer_row(family_id: str, reader: str, name: str, review: Review) -> dict[str, Any]:
    """Return the row of one answer that was found from the text alone."""
    return {
        "family_id": family_id,
        "reader": reader,
        "name": name,
        "difficulty": review.difficulty,
        "seed": review.seed,
        "answer": review.answer,
        "label": as_json(review.label),
        "matched": review.matched,
    }


def independence_in(lake: Lake, cycles: Sequence[str], family_ids: Iterable[str]) -> dict[str, Independence]:
    """Return the independence of families by what the lake holds of them: their cycles' tables, and answers
    that came later."""
    wanted = list(dict.fromkeys(family_ids))
    known = set(wanted)
    of_cycles = (VALIDATOR_AUTHORS.name, VALIDATOR_VOTES.name, REVIEWS.name)
    found: dict[str, dict[str, list[Row]]] = {name: {} for name in (*of_cycles, INDEPENDENT_ANSWERS.name)}
    for table in of_cycles:
        for cycle in (None, *cycles):
            if lake.record(LINE, table, cycle) is not None:
                for row in lake.read(LINE, table, cycle).to_dicts():
                    if row["family_id"] in known:
                        found[table].setdefault(row["family_id"], []).append(row)
    for row in rows_kept(lake, INDEPENDENT_ANSWERS, known):
        found[INDEPENDENT_ANSWERS.name].setdefault(row["family_id"], []).append(row)
    return {
        family_id: independence_of(*(found[table].get(family_id, []) for table in found))
        for family_id in wanted
    }
