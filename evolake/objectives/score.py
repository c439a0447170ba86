"""Scores all designs by all objectives, each objective in the jail.

An objective is generated code: whatever goes wrong in it is a row (score None, which ranks as +inf), never an
exception. What is not a finite number is missing, -inf included: an objective must not lift a design by a
score that no other can reach.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from evolake.objectives.kendall import kendall_matrix, rank_rows

if TYPE_CHECKING:
    from evolake.compute import Jails
    from evolake.jail import Outcome

DRIVER = "evolake.objectives.score_driver:score_designs"
SECONDS = 5.0
WALL_S = 20.0
MEMORY_MB = 1024
OUTPUT_BYTES = 16_000_000
LONGEST_REASON = 300
STATUSES = ("ok", "error", "invalid")


class HasSource(Protocol):
    """What scoring wants to know of an objective."""

    @property
    def objective_id(self) -> str:
        """Return the objective's id."""
        ...

    @property
    def source(self) -> str:
        """Return the objective's source text."""
        ...


@dataclass(frozen=True)
class Objective:
    """An objective as scoring needs it."""

    objective_id: str
    source: str


@dataclass(frozen=True)
class ScoreRow:
    """One objective's word on one design.

    score: finite, lower is better; None is missing and ranks as +inf.
    status: "ok", "error" (it raised), "invalid" (not a finite number), or why the jail ended it ("timeout",
    "cpu", "memory", ...).
    """

    objective_id: str
    design_id: str
    score: float | None
    status: str
    reason: str


def score_all(
    objectives: Sequence[HasSource], results: Mapping[str, Sequence[Mapping[str, Any]]], pool: Jails
) -> list[ScoreRow]:
    """Return rows for every objective and design, in the order given: all designs of the first objective,
    then of the second.

    Args:
        objectives: what to score with; one jail call each, at most 5 s of cpu.
        results: design id -> experiment results, one dict a level.
        pool: see `evolake.jail.open_pool`; preload numpy and scipy for speed.

    Raises:
        JailUnavailable: the jail itself failed; nothing was judged.
    """
    from evolake.jail import Call, Limits

    designs = list(results)
    if not designs:
        return []
    payload = {"results": [json.dumps([dict(row) for row in results[design]]) for design in designs]}
    limits = Limits(cpu_s=SECONDS, wall_s=WALL_S, memory_mb=MEMORY_MB, output_bytes=OUTPUT_BYTES)
    outcomes = pool.map([Call(DRIVER, objective.source, payload, limits) for objective in objectives])
    return [
        ScoreRow(objective.objective_id, design, *word)
        for objective, outcome in zip(objectives, outcomes, strict=True)
        for design, word in zip(designs, read_reply(outcome, len(designs)), strict=True)
    ]


def numbers(rows: Sequence[ScoreRow]) -> np.ndarray:
    """Return scores as numbers, (n,) float; a missing one is +inf."""
    return np.array([np.inf if row.score is None else row.score for row in rows], dtype=np.float64)


def score_table(
    objectives: Sequence[HasSource], results: Mapping[str, Sequence[Mapping[str, Any]]], pool: Jails
) -> dict[str, np.ndarray]:
    """Return objective id -> scores in the order of `results`, as `numbers`. Arguments and errors as
    `score_all`."""
    rows, width = score_all(objectives, results, pool), len(results)
    parts = [rows[start : start + width] for start in range(0, len(rows), width)] if width else []
    return {part[0].objective_id: numbers(part) for part in parts}


def nearest_voter(scores: np.ndarray, voting: Mapping[str, np.ndarray]) -> tuple[str, float] | None:
    """Return the objective that ranks most alike, and Kendall's tau of the two rankings; None if no objective
    votes.

    Args:
        scores: (n,) float. voting: objective id -> scores of the same.
    """
    if not voting:
        return None
    tau = kendall_matrix(rank_rows(np.array([scores, *voting.values()])))[0, 1:]
    place = int(np.argmax(tau))
    return list(voting)[place], float(tau[place])


def read_reply(outcome: Outcome, designs: int) -> list[tuple[float | None, str, str]]:
    """Return (score, status, reason) of each design from a reply that is not to be trusted."""
    if outcome.status != "ok":
        return [(None, outcome.status, outcome.reason)] * designs
    value = outcome.value
    if not isinstance(value, list) or len(value) != designs:
        return [(None, "protocol", "the reply is not one entry a design")] * designs
    return [_read_entry(entry) for entry in value]


def _read_entry(entry: Any) -> tuple[float | None, str, str]:
    if (
        not isinstance(entry, list)
        or len(entry) != 3
        or entry[1] not in STATUSES
        or not isinstance(entry[2], str)
    ):
        return None, "protocol", "the reply has an entry of another form"
    score, status, reason = entry
    reason = reason[:LONGEST_REASON]
    if status != "ok":
        return None, status, reason
    if isinstance(score, bool) or not isinstance(score, int | float) or not _finite(score):
        return None, "invalid", f"the score is {score!r:.100}"
    return float(score), "ok", ""


def _finite(score: float) -> bool:
    try:
        return math.isfinite(float(score))
    except OverflowError:
        return False
