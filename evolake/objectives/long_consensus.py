"""Consensus over long tables: one row per score, ids of whatever type the table has.

The front of `consensus.aggregate` for everything that lives in Parquet. An absent pair, a null and a NaN all
mean the same: this objective has no score for this design, which counts as +inf.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from evolake.errors import InputError
from evolake.objectives.consensus import DECAY, Consensus, aggregate

COLUMNS = ("objective_id", "design_id", "score")
Identifier = int | str


@dataclass(frozen=True)
class LongConsensus:
    """A consensus with its names: row i of `result` is `objective_ids[i]`, column j is `design_ids[j]`; both
    lists ascend."""

    objective_ids: list[Identifier]
    design_ids: list[Identifier]
    scores: np.ndarray
    result: Consensus

    @property
    def order(self) -> list[Identifier]:
        """Design ids, best first, in the type of the table."""
        return [self.design_ids[position] for position in self.result.order]

    def to_json(self) -> dict[str, Any]:
        """Return what `evolake consensus rank --json` prints: keys are strings as JSON has them, `order`
        keeps the type of the ids."""
        return {
            "verdict": "ranked",
            "weights": _named(self.objective_ids, self.result.weights),
            "median_tau": _named(self.objective_ids, self.result.median_tau),
            "consensus": _named(self.design_ids, self.result.consensus),
            "order": self.order,
        }

    def weight_rows(self, cycle: str, objectives: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return one row per objective: its weight and its median tau. objectives: id -> its row."""
        names, result = self.objective_ids, self.result
        return [
            {
                "objective_id": str(name),
                "cycle": cycle,
                "weight": float(weight),
                "median_tau": float(tau),
                "family": objectives[str(name)]["family"],
                "description": objectives[str(name)]["description"],
            }
            for name, weight, tau in zip(names, result.weights, result.median_tau, strict=True)
        ]

    def estimate(self, scores: Mapping[Identifier, float | None]) -> float:
        """Return consensus of a design that is not stored yet, from its score by each objective (absent:
        +inf). See `estimate_consensus`."""
        column = np.array(
            [[scores.get(objective, np.inf)] for objective in self.objective_ids], dtype=np.float64
        )
        return float(estimate_consensus(self.scores, self.result.weights, column)[0])


def rank_long(
    scores: pl.DataFrame,
    created: Mapping[Any, int],
    now: int,
    decay: float = DECAY,
    multipliers: Mapping[Any, float] | None = None,
) -> LongConsensus:
    """Return consensus of a long table.

    Args:
        scores: columns objective_id and design_id (int or string each) and score (number; null or NaN:
            missing), one row per pair.
        created: objective id (or its string) -> creation round; objectives without scores may be in it and
            are left out.
        now, decay: see `aggregate`. multipliers: objective id (or its string) -> multiplier, absent means 1.

    Raises:
        InputError: wrong columns or types, no rows, a null id, a pair twice, an objective without a round, a
            multiplier for an unknown objective, and whatever `aggregate` refuses.
    """
    table = _checked(scores)
    objective_ids = table["objective_id"].unique().sort().to_list()
    design_ids = table["design_id"].unique().sort().to_list()
    rounds = [_round(created, objective) for objective in objective_ids]
    factors = _factors(multipliers or {}, objective_ids, created)
    matrix = np.full((len(objective_ids), len(design_ids)), np.inf)
    rows = _positions(table["objective_id"], objective_ids)
    columns = _positions(table["design_id"], design_ids)
    matrix[rows, columns] = table["score"].fill_null(np.inf).fill_nan(np.inf).to_numpy()
    late = [
        f"{objective} (round {round_})"
        for objective, round_ in zip(objective_ids, rounds, strict=True)
        if round_ > now
    ]
    if late:
        raise InputError(
            "an objective was created after the current round",
            wanted=f"creation rounds of at most {now}",
            got=", ".join(late[:5]),
            do="give the round that these scores belong to with --round",
        )
    result = aggregate(matrix, rounds, now, decay, factors, ids=design_ids)
    return LongConsensus(objective_ids=objective_ids, design_ids=design_ids, scores=matrix, result=result)


def estimate_consensus(stored: np.ndarray, weights: np.ndarray, fresh: np.ndarray) -> np.ndarray:
    """Return consensus, (m,) float in [0, 1], of designs that are not stored yet, without ranking all again.

    Each rank is found by binary search in the objective's sorted scores and is the one that the design would
    have if it joined the stored ones (average ties); the weights stay those of the stored designs.

    Args:
        stored: (K, n) scores; weights: (K,); fresh: (K, m) scores. NaN counts as +inf.
    """
    count = stored.shape[1]
    estimate = np.zeros(fresh.shape[1])
    for known, weight, new in zip(stored, weights, fresh, strict=True):
        ascending = np.sort(np.where(np.isnan(known), np.inf, known))
        wanted = np.where(np.isnan(new), np.inf, new)
        below = np.searchsorted(ascending, wanted, side="left")
        upto = np.searchsorted(ascending, wanted, side="right")
        estimate += weight * (below + upto) / 2 / count
    return np.clip(estimate, 0.0, 1.0)


def _checked(scores: pl.DataFrame) -> pl.DataFrame:
    missing = [name for name in COLUMNS if name not in scores.columns]
    if missing:
        raise InputError(
            "the score table lacks " + ", ".join(missing),
            wanted="columns " + ", ".join(COLUMNS),
            got="columns " + ", ".join(scores.columns),
            do="rename the columns",
        )
    if scores.is_empty():
        raise InputError(
            "the score table has no rows",
            wanted="at least one score",
            got="0 rows",
            do="score some designs first",
        )
    table = scores.select(
        _identifier(scores, "objective_id"), _identifier(scores, "design_id"), _score(scores)
    )
    for name in COLUMNS[:2]:
        if nulls := table[name].null_count():
            raise InputError(f"{name} is null in {nulls} rows", wanted="an id in every row", got="null")
    twice = (
        table.group_by("objective_id", "design_id")
        .len()
        .filter(pl.col("len") > 1)
        .sort("objective_id", "design_id")
    )
    if len(twice):
        first = twice.row(0, named=True)
        raise InputError(
            f"{len(twice)} pairs of objective and design have more than one score",
            wanted="one row per pair",
            got=f"objective {first['objective_id']}, design {first['design_id']} in {first['len']} rows",
            do="keep one score a pair",
        )
    return table


def _identifier(scores: pl.DataFrame, name: str) -> pl.Expr:
    kind = scores.schema[name]
    if kind.is_integer() or kind == pl.String:
        return pl.col(name)
    if isinstance(kind, pl.Categorical | pl.Enum):
        return pl.col(name).cast(pl.String)
    raise InputError(
        f"column {name} cannot hold ids", wanted="integers or strings", got=str(kind), do=f"cast {name}"
    )


def _score(scores: pl.DataFrame) -> pl.Expr:
    kind = scores.schema["score"]
    if kind.is_numeric() or kind == pl.Null:
        return pl.col("score").cast(pl.Float64)
    raise InputError(
        "column score cannot hold scores",
        wanted="numbers, lower is better",
        got=str(kind),
        do="cast score to Float64",
    )


def _positions(column: pl.Series, ids: list[Identifier]) -> np.ndarray:
    return column.replace_strict(
        pl.Series(ids, dtype=column.dtype), pl.Series(range(len(ids)), dtype=pl.Int64)
    ).to_numpy()


def _lookup(values: Mapping[Any, Any], objective: Identifier) -> Any:
    return values[objective] if objective in values else values.get(str(objective))


def _round(created: Mapping[Any, int], objective: Identifier) -> int:
    value = _lookup(created, objective)
    if value is None:
        raise InputError(
            f"objective {objective} has no creation round",
            wanted="a round for every objective of the score table",
            got=f"rounds for {_few(created)}",
            do="add it to the rounds",
        )
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(
            f"the creation round of objective {objective} cannot be used",
            wanted="a whole number",
            got=json.dumps(value, default=repr),
        )
    return int(value)


def _factors(
    multipliers: Mapping[Any, float], objective_ids: list[Identifier], created: Mapping[Any, int]
) -> list[float]:
    known = {str(objective) for objective in objective_ids} | {str(objective) for objective in created}
    unknown = [str(objective) for objective in multipliers if str(objective) not in known]
    if unknown:
        raise InputError(
            f"a multiplier names an unknown objective: {', '.join(unknown[:5])}",
            wanted="ids of the score table",
            got=_few(objective_ids),
            do="take it out or correct the id",
        )
    for objective, value in multipliers.items():
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float | np.number)
            or not (np.isfinite(value) and value >= 0)
        ):
            raise InputError(
                f"the multiplier of objective {objective} cannot be used",
                wanted="a finite number of at least 0",
                got=json.dumps(value, default=repr),
                do="give 1 to leave the weight as it is, 0 to silence the objective",
            )
    result = [_lookup(multipliers, objective) for objective in objective_ids]
    return [1.0 if value is None else float(value) for value in result]


def _few(ids: Any) -> str:
    names = [str(name) for name in ids]
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "") or "none"


def _named(ids: list[Identifier], values: np.ndarray) -> dict[str, float]:
    return {str(name): float(value) for name, value in zip(ids, values, strict=True)}
