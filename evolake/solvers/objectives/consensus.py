"""From benchmark rows to one ranking: each objective scores each variant in the jail, and the consensus
weighs the objectives by their agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from evolake.objectives.long_consensus import LongConsensus, rank_long
from evolake.objectives.score import HasSource, score_all
from evolake.solvers.tables import RUNS, SCORES, counting

if TYPE_CHECKING:
    from evolake.compute import Jails

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
