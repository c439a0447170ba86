"""The trial of a new objective, in the jail, on the measurements at hand, next to the objectives that vote.

A handful of variants can be ranked in few ways, so that objectives of quite different meaning rank them
alike. Hence the probes: every variant by all of its runs, and again by its runs on each of several halves of
the formulas. Two objectives are alike where Kendall's tau of their ranks of the probes
(`evolake.objectives.kendall`, what the consensus weighs agreement by) is at least 0.95: on made-up runs of 5
to 13 variants, 4% of all pairs of families are that alike, and half of all pairs of draws of one family.

A reason begins with words of ours up to the first ": "; only these are shown to the writer of the next
objective. What follows may be the objective's own words, which could carry measurements out of the jail that
a role must not see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evolake.objectives.kendall import kendall_matrix, rank_rows
from evolake.objectives.score import HasSource, ScoreRow, score_all
from evolake.solvers.objectives.consensus import results_of
from evolake.solvers.suites.spec import original_name

if TYPE_CHECKING:
    from evolake.compute import Jails

HALVES = 4
LIKE = 0.95
SHORT = 12
LATE = {"cpu": "too slow", "timeout": "too slow"}
"""Which of two clocks ends a slow objective depends on how loaded the machine is; what is shown does not."""


@dataclass(frozen=True)
class Probes:
    """Results by the name of the probe. The first `variants` of them are the variants by all of their
    runs."""

    results: Mapping[str, Sequence[Mapping[str, Any]]]
    variants: int


@dataclass(frozen=True)
class Candidate:
    """An objective under test."""

    objective_id: str
    source: str


def probes_of(runs: pl.DataFrame, random: np.random.Generator) -> Probes:
    """Return all variants of `runs` (rows of RUNS), whole and by halves of the formulas. A formula and its
    shuffled copies stay together."""
    whole = results_of(runs)
    formulas = sorted({_formula(row) for rows in whole.values() for row in rows})
    probes: dict[str, Sequence[Mapping[str, Any]]] = dict(whole)
    for number in range(HALVES):
        half = set(random.permutation(formulas)[: (len(formulas) + 1) // 2].tolist())
        probes |= {
            f"{name}/{number}": [row for row in rows if _formula(row) in half] for name, rows in whole.items()
        }
    return Probes(probes, len(whole))


def score_probes(objectives: Sequence[HasSource], probes: Probes, pool: Jails) -> dict[str, np.ndarray]:
    """Return objective id -> scores of all probes, (n,) float; a missing one is +inf. Raises JailUnavailable
    when the jail itself failed."""
    rows, width = score_all(objectives, probes.results, pool), len(probes.results)
    parts = [rows[start : start + width] for start in range(0, len(rows), width)] if width else []
    return {part[0].objective_id: _numbers(part) for part in parts}


def try_objective(
    candidate: Candidate, known: Mapping[str, np.ndarray], probes: Probes, pool: Jails
) -> tuple[np.ndarray, str | None]:
    """Return the scores of a new objective on all probes, and why it is blocked; None for one that may vote.

    It runs twice, in two processes and in opposite orders: what depends on chance, on the clock or on what
    was scored before shows.

    Args:
        known: objective id -> scores on the same probes, of the objectives that vote. probes: of at least one
            variant.

    Raises:
        JailUnavailable: the jail itself failed.
    """
    rows = score_all([candidate], probes.results, pool)
    reason = _missing(rows[: probes.variants])
    if reason is None:
        turned = score_all(
            [candidate], {name: probes.results[name] for name in reversed(list(probes.results))}, pool
        )[::-1]
        reason = (
            _missing(turned[: probes.variants])
            or _unsteady(rows, turned)
            or _says_nothing_new(_numbers(rows), known, probes.variants)
        )
    return _numbers(rows), reason


def shown_reason(reason: str) -> str:
    """Return the part of a reason that a role may hear."""
    return reason.partition(": ")[0]


def _missing(rows: Sequence[ScoreRow]) -> str | None:
    return next(
        (
            f"no finite number for a variant ({LATE.get(row.status, row.status)}): {row.reason}"
            for row in rows
            if row.score is None
        ),
        None,
    )


def _unsteady(rows: Sequence[ScoreRow], turned: Sequence[ScoreRow]) -> str | None:
    pairs = zip(rows, turned, strict=True)
    return next(
        (
            f"another number for the same measurements: {item.score} and {two.score}"
            for item, two in pairs
            if item.score != two.score
        ),
        None,
    )


def _says_nothing_new(scores: np.ndarray, known: Mapping[str, np.ndarray], variants: int) -> str | None:
    shown = scores[:variants] if variants > 1 else scores
    if len(set(shown.tolist())) == 1:
        return f"the same score for all variants: {shown[0]}"
    if not known:
        return None
    tau = kendall_matrix(rank_rows(np.array([scores, *known.values()])))[0, 1:]
    nearest = int(np.argmax(tau))
    if tau[nearest] < LIKE:
        return None
    return (
        f"it ranks as one does that votes: {list(known)[nearest][:SHORT]}, Kendall's tau {tau[nearest]:.3f}"
    )


def _numbers(rows: Sequence[ScoreRow]) -> np.ndarray:
    return np.array([np.inf if row.score is None else row.score for row in rows], dtype=np.float64)


def _formula(row: Mapping[str, Any]) -> str:
    return original_name(str(row["instance"]), int(row["shuffle"]))
