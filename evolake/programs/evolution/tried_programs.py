"""What operators are given of a project's search: its trials, read from the rows of its programs, and the
parent of the next child."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from evolake.lake import BlobStore
from evolake.programs.evolution.archive import Islands
from evolake.programs.evolution.population import Row, texts_of
from evolake.programs.roles.writer import TriedProgram, trials_of
from evolake.programs.search.parents import choose_parent

NEWEST, BEST = 500, 100
"""Trials that operators are given: the newest ones, and of older ones the best."""
EVALUATED = ("run", "result", "novel")
"""Gates that block a program after its evaluation, or in it."""
SHORT_ID = 12
BEHAVES_AS = re.compile(rf"novel: it behaves as ([0-9a-f]{{{SHORT_ID}}})")
"""Reason of the gate `novel`, as `gates.checkers.no_duplicate` writes it."""


@dataclass(frozen=True)
class Tried:
    """rows: of PROGRAMS, those of `programs`, in the same order. programs: as a request has them."""

    rows: Sequence[Row] = ()
    programs: Sequence[TriedProgram] = field(default=(), repr=False)

    def place(self, row: Row) -> int | None:
        """Return the place of a program among those tried; None if it is too old to be among them."""
        return next(
            (place for place, item in enumerate(self.rows) if item["program_id"] == row["program_id"]), None
        )


def tried_programs(rows: Sequence[Row], islands: Islands, blobs: BlobStore) -> Tried:
    """Return what was tried. rows: of all programs of a project, in order. Programs that a gate blocked
    unevaluated are left out."""
    held = [
        row
        for row in rows
        if row["score"] is not None or (row["reason"] or "").partition(":")[0] in EVALUATED
    ]
    older = islands.ranked(row for row in held[:-NEWEST] if row["score"] is not None)[:BEST]
    kept = sorted([*older, *held[-NEWEST:]], key=lambda row: row["number"])
    places = {row["program_id"]: place for place, row in enumerate(kept)}
    scores = {row["program_id"][:SHORT_ID]: row["score"] for row in rows}
    programs = [
        TriedProgram(
            files=texts_of(blobs, row["files_sha"]),
            score=row["score"],
            operator=row["operator"],
            parent=places.get(row["parents"][0]) if row["parents"] else None,
            twin_score=_twin_score(row, scores),
        )
        for row in kept
    ]
    return Tried(kept, programs)


def _twin_score(row: Row, scores: Mapping[str, float | None]) -> float | None:
    """Score of the program that a blocked one behaves as, which the gate's reason names; None if it was not
    blocked because of one."""
    found = BEHAVES_AS.match(row["reason"] or "")
    return scores.get(found.group(1)) if found else None


def parents_for_operators(
    tried: Tried, islands: Islands, island: int, random: np.random.Generator
) -> tuple[tuple[Row, Row], bool]:
    """Return a parent and another one, and whether the numbers of the parent alone are to be changed."""
    drawn = islands.parents(island, random)
    choice = choose_parent(trials_of(tried.programs, maximize=islands.project.higher_is_better), random)
    return (drawn[0] if choice.place is None else tried.rows[choice.place], drawn[1]), choice.numbers_only
