"""The solvers' portfolio of objectives: structurally different families over benchmark rows, drawn and
ranked by `evolake.objectives`; one ranking from what each of them scores in the jail, weighed by their
agreement; and the trial of a new one on the measurements at hand, next to those that vote.

PAR-2 alone can be gamed by a lucky formula; families that look at the tail, at one side of the truth, at
proofs instead of time or at the spread over shuffled copies outvote an edit that wins by luck.

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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evolake.objectives.family import families_in
from evolake.objectives.long_consensus import LongConsensus, rank_long
from evolake.objectives.portfolio import HasFamily, ObjectiveSpec, make, new_objective
from evolake.objectives.score import HasSource, Objective, ScoreRow, nearest_voter, numbers, score_all
from evolake.solvers.suites.spec import original_name
from evolake.solvers.tables import RUNS, SCORES, counting

if TYPE_CHECKING:
    from evolake.compute import Jails


FOLDER, HELPERS = "evolake.solvers.objectives.families", "runs"
BASELINE = "par2"
FAMILIES = families_in(FOLDER)


def first_objective() -> ObjectiveSpec:
    """Return PAR-2, the one that every portfolio starts with."""
    return make(
        BASELINE,
        {},
        "PAR-2: mean cpu seconds, an unsolved run counted twice the timeout",
        folder=FOLDER,
        helpers=HELPERS,
    )


def draw_objective(
    rng: np.random.Generator, existing: Iterable[HasFamily], wanted: Sequence[str] = ()
) -> ObjectiveSpec:
    """Return a new objective of a family that has few so far; see
    `evolake.objectives.portfolio.new_objective`."""
    return new_objective(rng, existing, wanted, families=FAMILIES, folder=FOLDER, helpers=HELPERS)


def initial_portfolio(rng: np.random.Generator, count: int) -> list[ObjectiveSpec]:
    """Return PAR-2 and `count - 1` drawn ones, families as different as they can be."""
    result = [first_objective()]
    while len(result) < count:
        result.append(draw_objective(rng, result))
    return result


SHOWN = (
    "instance",
    "family",
    "expected",
    "shuffle",
    "repeat",
    "status",
    "answer",
    "solved",
    "certificate",
    "proof_status",
    "proof_bytes",
    "cpu_s",
    "timeout_s",
    "peak_mb",
)
"""What the host knows of a run. Counters are left out: they are what the variant prints, and would let it say
how good it is."""


@dataclass(frozen=True)
class Standing:
    """A variant's place: rank 1 is best; consensus in [0, 1], lower is better."""

    variant_id: str
    rank: int
    consensus: float


def results_of(runs: pl.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """Return variant id -> what objectives see of its runs: no ids, no times of the clock, no host; in order
    of instance and repetition."""
    ordered = counting(RUNS.validate(runs)).sort("variant_id", "instance", "timeout_s", "repeat")
    return {
        str(key[0]): part.select(SHOWN).to_dicts()
        for key, part in ordered.group_by("variant_id", maintain_order=True)
    }


def score_variants(
    objectives: Sequence[HasSource], runs: pl.DataFrame, pool: Jails, *, cycle: str
) -> pl.DataFrame:
    """Return rows of SCORES for every objective and variant. Raises JailUnavailable when the jail itself
    failed."""
    rows = score_all(objectives, results_of(runs), pool)
    return SCORES.frame(
        {
            "objective_id": row.objective_id,
            "variant_id": row.design_id,
            "cycle": cycle,
            "score": row.score,
            "status": row.status,
            "reason": row.reason or None,
        }
        for row in rows
    )


def rank_variants(
    scores: pl.DataFrame, created: Mapping[str, int], now: int, multipliers: Mapping[str, float] | None = None
) -> tuple[list[Standing], LongConsensus]:
    """Return all variants by consensus, best first, and the consensus with its weights.

    Args:
        scores: rows of SCORES. created: objective id -> round of its creation; now: the current round.
    """
    result = rank_long(scores.rename({"variant_id": "design_id"}), created, now, multipliers=multipliers)
    by_id = dict(zip(result.design_ids, result.result.consensus.tolist(), strict=True))
    return [
        Standing(str(name), place, float(by_id[name])) for place, name in enumerate(result.order, start=1)
    ], result


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


def try_objective(
    candidate: Objective, known: Mapping[str, np.ndarray], probes: Probes, pool: Jails
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
            or _says_nothing_new(numbers(rows), known, probes.variants)
        )
    return numbers(rows), reason


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
    nearest = nearest_voter(scores, known)
    if nearest is None or nearest[1] < LIKE:
        return None
    return f"it ranks as one does that votes: {nearest[0][:SHORT]}, Kendall's tau {nearest[1]:.3f}"


def _formula(row: Mapping[str, Any]) -> str:
    return original_name(str(row["instance"]), int(row["shuffle"]))
